"use strict";
(() => {
  const items = [...document.querySelectorAll(".item")];
  const byId = (id) => document.getElementById(id);
  const search = byId("search"), found = byId("found"), help = byId("help"), nothing = byId("nothing");
  const texts = new Map(); // of items, when they are searched first
  let current = -1;

  const summary = (item) => item.querySelector("summary");
  const visible = () => items.filter((item) => !item.hidden);
  const show = (item) => {
    current = items.indexOf(item);
    summary(item).focus({ preventScroll: true });
    item.scrollIntoView({ block: "start" });
  };
  const step = (by) => {
    const all = visible();
    if (all.length === 0) return;
    const at = all.indexOf(items[current]);
    show(all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)]);
  };
  const textOf = (item) => {
    if (!texts.has(item)) texts.set(item, item.textContent.toLowerCase());
    return texts.get(item);
  };
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let hits = 0;
    for (const item of items) {
      item.hidden = !words.every((word) => textOf(item).includes(word));
      if (!item.hidden) hits++;
    }
    for (const section of document.querySelectorAll("main > section")) {
      section.hidden = words.length > 0 && !section.querySelector(".item:not([hidden])");
    }
    nothing.hidden = words.length === 0 || hits > 0;
    found.textContent = words.length === 0 ? "" : hits + " of " + items.length;
  };
  const unfoldTarget = () => {
    const target = location.hash && byId(decodeURIComponent(location.hash.slice(1)));
    if (!target || !target.matches(".item")) return;
    target.open = true;
    show(target);
  };
  const keys = {
    j: () => step(1),
    k: () => step(-1),
    o: () => {
      if (items[current]) items[current].open = !items[current].open;
    },
    O: () => {
      const open = visible().some((item) => !item.open);
      for (const item of visible()) item.open = open;
    },
    "/": () => search.focus(),
    "?": () => help.showModal(),
  };

  byId("find").hidden = false;
  search.addEventListener("input", filter);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    search.value = "";
    filter();
    search.blur();
  });
  byId("keys").addEventListener("click", () => help.showModal());
  byId("close").addEventListener("click", () => help.close());
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input");
    if (event.ctrlKey || event.metaKey || event.altKey || typing || help.open || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  document.addEventListener("focusin", (event) => {
    const item = event.target.closest(".item");
    if (item) current = items.indexOf(item);
  });
  addEventListener("hashchange", unfoldTarget);
  unfoldTarget();
})();
