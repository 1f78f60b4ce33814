// Package browser opens the pages of traceforge diff --html in a real browser, headless Chromium. It has only tests,
// and skips them if there is no browser.
package browser
