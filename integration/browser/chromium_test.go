package browser

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// startChromium starts a headless Chromium. If there is none, it skips the test, or fails it if the artefacts are to be
// kept.
func startChromium(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	const missing = "no Chromium on this machine: install chromium"
	switch {
	case path == "" && artefacts(t) != "":
		t.Fatal(missing + ", since TRACEFORGE_SCREENSHOTS asks for what it shows")
	case path == "":
		t.Skip(missing)
	}
	// Containers run tests as root, which excludes the sandbox. The pages are our own.
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.NoSandbox)
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	browser, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(browser, chromedp.Navigate("about:blank")))
	return browser
}

// A view is a size and a mode in which a page is shown.
type view struct {
	width, height int64
	scheme        string // light or dark
	noScript      bool
}

// A tab is an open page.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	said     []string // messages of the console, of failed scripts, and of the browser about blocked content
	requests []string // URLs
}

// open opens a file.
func open(t *testing.T, browser context.Context, file string, v view) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	tab := &tab{t: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, tab.listen))
	command(tab, network.Enable, network.EnableParams{})
	command(tab, log.Enable, cdp.Empty{})
	command(tab, runtime.Enable, cdp.Empty{})
	command(tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: v.width, Height: v.height, DeviceScaleFactor: 1, Mobile: v.width < 500,
	})
	command(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: v.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	command(tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: v.noScript})
	tab.do(chromedp.Navigate("file://" + filepath.ToSlash(file)))
	return tab
}

// command sends a command to the browser and returns its result.
func command[P, R any](tab *tab, c cdp.Command[P, R], params P) R {
	tab.t.Helper()
	result, err := chromedp.Call(tab.ctx, c, params)
	require.NoError(tab.t, err)
	return result
}

func (tab *tab) listen(event any) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		tab.said = append(tab.said, e.Entry.Text)
	case *runtime.EventConsoleAPICalled:
		tab.said = append(tab.said, string(e.Type))
	case *runtime.EventExceptionThrown:
		tab.said = append(tab.said, e.ExceptionDetails.Text)
	case *network.EventRequestWillBeSent:
		tab.requests = append(tab.requests, e.Request.URL)
	}
}

// heard returns the browser's messages and the URLs that the page requested.
func (tab *tab) heard() (said, requests []string) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return append([]string{}, tab.said...), append([]string{}, tab.requests...)
}

func (tab *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	require.NoError(tab.t, chromedp.Do(tab.ctx, actions...))
}

// press presses the keys of a text. If the page prevents a key, it types nothing, like a keyboard.
func (tab *tab) press(text string) {
	tab.t.Helper()
	for _, r := range text {
		tab.key(input.DispatchKeyEventParams{Key: string(r), Text: string(r)})
	}
}

// escape presses the Escape key.
func (tab *tab) escape() {
	tab.t.Helper()
	tab.key(input.DispatchKeyEventParams{Key: "Escape", Code: "Escape", WindowsVirtualKeyCode: 27})
}

func (tab *tab) key(event input.DispatchKeyEventParams) {
	tab.t.Helper()
	event.Type = input.DispatchKeyEventTypeKeyDown
	command(tab, input.DispatchKeyEvent, event)
	event.Type, event.Text = input.DispatchKeyEventTypeKeyUp, ""
	command(tab, input.DispatchKeyEvent, event)
}

// click clicks the first element that matches a selector.
func (tab *tab) click(selector string) {
	tab.t.Helper()
	tab.do(chromedp.Click(chromedp.CSS(selector)))
}

// requireSoon waits until a JavaScript expression is true.
func (tab *tab) requireSoon(expression string) {
	tab.t.Helper()
	require.Eventually(tab.t, func() bool { return value[bool](tab, expression) }, time.Minute, 10*time.Millisecond, expression)
}

// value evaluates a JavaScript expression.
func value[T any](tab *tab, expression string) T {
	tab.t.Helper()
	v, err := chromedp.Run(tab.ctx, chromedp.Evaluate[T](expression))
	require.NoError(tab.t, err, expression)
	return v
}

// artefacts returns the directory in which CI keeps pages and screenshots for people; "" means none.
func artefacts(t *testing.T) string {
	dir := os.Getenv("TRACEFORGE_SCREENSHOTS")
	if dir != "" {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	return dir
}

// keep keeps a page.
func keep(t *testing.T, file string) {
	t.Helper()
	if dir := artefacts(t); dir != "" {
		page, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(file)), page, 0o644))
	}
}

// screenshot keeps a picture of the page.
func (tab *tab) screenshot(name string) {
	tab.t.Helper()
	if dir := artefacts(tab.t); dir != "" {
		tab.capture(filepath.Join(dir, name+".png"))
	}
}

func (tab *tab) capture(file string) {
	tab.t.Helper()
	png, err := chromedp.Run(tab.ctx, chromedp.CaptureScreenshot())
	require.NoError(tab.t, err)
	require.NoError(tab.t, os.WriteFile(file, png, 0o644))
}
