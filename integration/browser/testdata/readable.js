// What of a page cannot be read: elements that are wider than the window, texts without contrast (WCAG 2.2, 1.4.3).
(() => {
  for (const details of document.querySelectorAll("details")) details.open = true;
  const wide = [];
  if (document.documentElement.scrollWidth > innerWidth) wide.push("the page: " + document.documentElement.scrollWidth);
  for (const element of document.querySelectorAll("body *")) {
    const box = element.getBoundingClientRect();
    if (box.width > 0 && box.right > innerWidth + 1 && !element.closest(".skip")) wide.push(element.outerHTML.slice(0, 100));
  }

  const color = (text) => {
    const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
    return { r, g, b, a };
  };
  const luminance = ({ r, g, b }) => {
    const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const c = color(getComputedStyle(e).backgroundColor);
      if (c.a === 1) return c;
      if (c.a > 0) throw new Error("a background that shines through: " + e.outerHTML.slice(0, 100));
    }
    throw new Error("no background");
  };
  const faint = new Set();
  let texts = 0, least = 21;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest("script") || element.getClientRects().length === 0) continue;
    texts++;
    const [a, b] = [luminance(color(getComputedStyle(element).color)), luminance(ground(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    least = Math.min(least, contrast);
    if (contrast < 4.5) faint.add(contrast.toFixed(2) + ": " + element.outerHTML.slice(0, 100));
  }
  return { Texts: texts, Wide: wide, Faint: [...faint], Least: least };
})();
