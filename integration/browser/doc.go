// Package browser opens the pages of traceforge diff --html in a real browser: headless Chromium. It has tests
// only, and skips them where there is none.
package browser
