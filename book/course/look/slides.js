/* Slides from disk: arrow keys, touch, overview, points that appear one by one, notes below the slide or in a window of their own, light and dark.
 * A classic script without any other: without it the page shows all slides with their notes, one below the other. */
(function () {
  "use strict";

  var html = document.documentElement;
  var slides = Array.prototype.slice.call(document.querySelectorAll(".slide"));
  var at = 0, step = 0, began = null, speaker = null, told, along, keys;
  var KEYS = [["→ space", "on"], ["←", "back"], ["Home End", "first, last"], ["o", "overview"], ["s", "speaker’s window"], ["n", "notes below"], ["d", "light or dark"], ["f", "full screen"], ["p", "print, with the notes if they are shown"]];

  function steps(slide) { return Array.prototype.slice.call(slide.querySelectorAll(".steps > li")); }

  function theme(name) {
    html.dataset.theme = name;
    document.querySelectorAll("iframe").forEach(function (frame) { frame.remove(); });
    live();
    tell();
  }

  /** The explorer is loaded when its slide is shown for the first time. Its window's name carries the theme: files from disk can tell each other nothing else. */
  function live() {
    var box = slides[at].querySelector(".explorer[data-src]");
    if (!box || box.querySelector("iframe") || html.classList.contains("overview")) return;
    var frame = document.createElement("iframe");
    frame.name = html.dataset.theme;
    frame.title = "The explorer";
    frame.src = box.dataset.src;
    box.appendChild(frame);
  }

  function show(place, points) {
    at = Math.max(0, Math.min(slides.length - 1, place));
    var all = steps(slides[at]);
    step = Math.max(0, Math.min(all.length, points));
    slides.forEach(function (slide, n) { slide.classList.toggle("now", n === at); });
    all.forEach(function (li, n) { li.classList.toggle("shown", n < step); });
    along.style.width = 100 * (at + 1) / slides.length + "%";
    told.textContent = slides[at].getAttribute("aria-label");
    if (at > 0 && began === null) began = Date.now();
    try { history.replaceState(null, "", "#" + (at + 1)); } catch (_) { location.hash = at + 1; }
    live();
    tell();
  }

  function on() { if (step < steps(slides[at]).length) show(at, step + 1); else if (at < slides.length - 1) show(at + 1, 0); }
  function back() { if (step > 0) show(at, step - 1); else if (at > 0) show(at - 1, Infinity); }

  function overview(open) {
    html.classList.toggle("overview", open);
    slides.forEach(function (slide) { if (open) slide.tabIndex = 0; else slide.removeAttribute("tabindex"); });
    if (open) { slides[at].focus(); slides[at].scrollIntoView({ block: "center" }); }
    else { scrollTo(0, 0); show(at, step); }
  }
  var isOverview = function () { return html.classList.contains("overview"); };

  /* ---- the speaker's window: a blank one, which this page may write into, also from disk ---- */

  function clone(n) {
    if (!slides[n]) return null;
    var copy = slides[n].cloneNode(true);
    copy.querySelectorAll("iframe, .notes").forEach(function (node) { node.remove(); });
    copy.classList.remove("now");
    copy.removeAttribute("id");
    if (n !== at) copy.querySelectorAll(".steps > li").forEach(function (li) { li.classList.add("shown"); });
    return copy;
  }

  function two(n) { return (n < 10 ? "0" : "") + n; }
  function clock(seconds) { return two(Math.floor(seconds / 60)) + ":" + two(Math.floor(seconds % 60)); }

  function openSpeaker() {
    if (speaker && !speaker.closed) { speaker.close(); speaker = null; return; }
    speaker = window.open("", "whichbird-speaker", "width=1100,height=800");
    if (!speaker) { html.classList.add("with-notes"); return; } // a browser that allows no windows: notes below the slide
    var d = speaker.document;
    d.open();
    d.write("<!DOCTYPE html><html lang='en'><head><title>Speaker’s notes</title></head><body class='speaker'></body></html>");
    d.close();
    var base = d.createElement("base");
    base.href = location.href.split("#")[0];
    d.head.appendChild(base);
    document.querySelectorAll('link[rel="stylesheet"]').forEach(function (link) {
      var copy = d.createElement("link");
      copy.rel = "stylesheet";
      copy.href = link.href;
      d.head.appendChild(copy);
    });
    d.addEventListener("keydown", pressed);
    tell();
  }

  function tell() {
    if (!speaker || speaker.closed) return;
    var d = speaker.document, body = d.body, slide = slides[at];
    d.documentElement.dataset.theme = html.dataset.theme;
    body.textContent = "";
    var add = function (parent, tag, name, words) {
      var node = d.createElement(tag);
      if (name) node.className = name;
      if (words !== undefined) node.textContent = words;
      parent.appendChild(node);
      return node;
    };
    var times = add(body, "div", "times");
    add(times, "b", "elapsed", "");
    add(times, "span", "plan", slide.dataset.from ? "planned: minutes " + slide.dataset.from + " to " + slide.dataset.to + " of " + html.dataset.minutes : html.dataset.minutes + " minutes in all");
    add(times, "span", "wall", "");
    var buttons = add(times, "span", "buttons");
    [["Back", back], ["On", on], ["Clock to zero", function () { began = Date.now(); tick(); }]].forEach(function (pair) {
      add(buttons, "button", "", pair[0]).addEventListener("click", pair[1]);
    });
    var both = add(body, "div", "two");
    [["now, " + (at + 1) + " of " + slides.length, at], ["next", at + 1]].forEach(function (pair) {
      var box = add(both, "div", "");
      add(box, "p", "", pair[0]);
      var copy = clone(pair[1]);
      if (copy) box.appendChild(d.importNode(copy, true)); else add(box, "p", "", "the end");
    });
    var notes = add(body, "div", "notes");
    notes.innerHTML = slide.querySelector(".notes").innerHTML; // our own text, from this page
    tick();
  }

  function tick() {
    if (!speaker || speaker.closed) return;
    var d = speaker.document, elapsed = began === null ? 0 : (Date.now() - began) / 1000, now = new Date();
    var box = d.querySelector(".elapsed");
    if (!box) return;
    box.textContent = clock(elapsed);
    box.classList.toggle("late", Boolean(slides[at].dataset.to) && elapsed > 60 * slides[at].dataset.to);
    d.querySelector(".wall").textContent = two(now.getHours()) + ":" + two(now.getMinutes());
  }

  /* ---- keys, touch, buttons ---- */

  var ACTIONS = {
    ArrowRight: on, PageDown: on, " ": on, ArrowDown: on, ArrowLeft: back, PageUp: back, ArrowUp: back,
    Home: function () { show(0, 0); }, End: function () { show(slides.length - 1, Infinity); },
    o: function () { overview(!isOverview()); }, s: openSpeaker, n: function () { html.classList.toggle("with-notes"); },
    d: function () { theme(html.dataset.theme === "dark" ? "light" : "dark"); },
    f: function () { if (document.fullscreenElement) document.exitFullscreen(); else if (html.requestFullscreen) html.requestFullscreen(); },
    p: function () { window.print(); },
    "?": function () { keys.hidden = !keys.hidden; }
  };

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest && event.target.closest("a, button, input, select, textarea") && (event.key === " " || event.key === "Enter")) return;
    if (isOverview()) {
      if (event.key === "Escape") return overview(false);
      var focused = slides.indexOf(document.activeElement);
      if (event.key === "Enter" && focused >= 0) { at = focused; step = 0; return overview(false); }
      var move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (move && focused >= 0) { event.preventDefault(); (slides[focused + move] || slides[focused]).focus(); return; }
      if (event.key !== "o" && event.key !== "d" && event.key !== "?") return;
    } else if (event.key === "Escape" && !keys.hidden) { keys.hidden = true; return; }
    else if (event.key === "Escape") return overview(true);
    var action = ACTIONS[event.key] || ACTIONS[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  }

  function button(bar, sign, name, action) {
    var node = document.createElement("button");
    node.type = "button";
    node.textContent = sign;
    node.setAttribute("aria-label", name);
    node.title = name;
    node.addEventListener("click", action);
    bar.appendChild(node);
  }

  function begin() {
    html.classList.add("live");
    if (!html.dataset.theme) html.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    told = document.createElement("p");
    told.className = "told";
    told.setAttribute("role", "status");
    along = document.createElement("div");
    along.className = "along";
    keys = document.createElement("div");
    keys.className = "keys";
    keys.hidden = true;
    var list = document.createElement("dl");
    KEYS.forEach(function (pair) {
      ["dt", "dd"].forEach(function (tag, n) { var node = document.createElement(tag); node.textContent = pair[n]; list.appendChild(node); });
    });
    keys.appendChild(list);
    var bar = document.createElement("div");
    bar.className = "bar";
    button(bar, "?", "Keys", ACTIONS["?"]);
    button(bar, "▦", "Overview", ACTIONS.o);
    button(bar, "✎", "Notes", ACTIONS.n);
    button(bar, "←", "Back", back);
    button(bar, "→", "On", on);
    document.body.append(told, along, keys, bar);
    slides.forEach(function (slide, n) {
      slide.addEventListener("click", function () { if (isOverview()) { at = n; step = 0; overview(false); } });
    });
    document.addEventListener("keydown", pressed);
    var from = null;
    document.addEventListener("touchstart", function (event) { from = event.touches.length === 1 ? event.touches[0] : null; }, { passive: true });
    document.addEventListener("touchend", function (event) {
      if (!from || isOverview()) return;
      var to = event.changedTouches[0], dx = to.clientX - from.clientX, dy = to.clientY - from.clientY;
      from = null;
      if (Math.abs(dx) > 50 && Math.abs(dx) > 1.5 * Math.abs(dy)) (dx < 0 ? on : back)();
    });
    window.addEventListener("hashchange", function () { var n = parseInt(location.hash.slice(1), 10) - 1; if (n >= 0 && n !== at) show(n, 0); });
    window.addEventListener("beforeprint", function () { slides.forEach(function (slide) { steps(slide).forEach(function (li) { li.classList.add("shown"); }); }); });
    setInterval(tick, 1000);
    show((parseInt(location.hash.slice(1), 10) || 1) - 1, 0);
  }

  if (slides.length) begin();
})();
