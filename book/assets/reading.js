/* Reading mode: the switch that opens all code, and cards with the definitions of terms. Without this script folds still open, and terms still lead to
   the glossary. A classic script, so that it runs from disk. */
(function () {
  "use strict";
  const html = document.documentElement;

  /* ---- one switch for all code ---- */

  const shown = () => html.dataset.wbCode === "shown";

  function tell() {
    const button = document.querySelector(".btn-wb-code");
    if (button) button.setAttribute("aria-pressed", String(shown()));
  }

  window.whichbirdCode = function () {
    const open = !shown();
    /* what the reader looks at stays where it is while folds above it open */
    const mark = [...document.querySelectorAll(".bd-article :is(p, h1, h2, h3, figure, table)")]
      .find((e) => e.checkVisibility() && e.getBoundingClientRect().top >= 60);
    const before = mark && mark.getBoundingClientRect().top;
    if (open) html.dataset.wbCode = "shown";
    else delete html.dataset.wbCode;
    document.querySelectorAll("details.wb-code").forEach((d) => { d.open = open; });
    if (mark) window.scrollBy({ top: mark.getBoundingClientRect().top - before, behavior: "instant" });
    try { localStorage.setItem("wb-code", open ? "shown" : "folded"); } catch (_) { /* nothing is remembered, no harm */ }
    tell();
  };

  /* what the theme would call from attributes, which the page's policy forbids */
  const calls = { print: () => window.print(), code: () => window.whichbirdCode() };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-wb-call]");
    if (button) calls[button.dataset.wbCall]();
  });

  /* ---- cards ---- */

  let open = null; // the card that is shown, and the link it belongs to
  let timer = 0;

  function hide() {
    clearTimeout(timer);
    if (!open) return;
    open.card.classList.remove("wb-shown");
    document.querySelector(".wb-cards").append(open.card);
    open = null;
  }

  function show(link, card) {
    clearTimeout(timer);
    if (open && open.link === link) return;
    hide();
    document.body.append(card); // out of the hidden box, and out of any box that scrolls
    card.classList.add("wb-shown");
    const at = link.getClientRects()[0] || link.getBoundingClientRect();
    const size = card.getBoundingClientRect();
    const wide = html.clientWidth;
    const left = Math.max(8, Math.min(at.left, wide - size.width - 8));
    const below = at.bottom + 6 + size.height <= window.innerHeight || at.top < size.height + 6;
    card.style.left = `${left + window.scrollX}px`;
    card.style.top = `${(below ? at.bottom + 6 : at.top - size.height - 6) + window.scrollY}px`;
    open = { link, card };
  }

  const soon = (action, wait) => { clearTimeout(timer); timer = setTimeout(action, wait); };

  function dress(link) {
    const card = document.getElementById(`card-${link.hash.slice(1)}`);
    if (!card) return;
    link.classList.add("wb-term");
    link.setAttribute("aria-describedby", card.id);
    link.removeAttribute("title");
    if (!card.querySelector(".wb-more")) {
      const more = document.createElement("a");
      more.className = "wb-more";
      more.href = link.href;
      more.textContent = "in the glossary";
      card.append(more);
      card.addEventListener("pointerenter", () => clearTimeout(timer));
      card.addEventListener("pointerleave", (e) => { if (e.pointerType === "mouse") soon(hide, 250); });
    }
    link.addEventListener("pointerenter", (e) => { if (e.pointerType === "mouse") soon(() => show(link, card), 120); });
    link.addEventListener("pointerleave", (e) => { if (e.pointerType === "mouse") soon(hide, 250); });
    link.addEventListener("focus", () => { if (link.matches(":focus-visible")) show(link, card); });
    link.addEventListener("blur", () => soon(() => { if (!open || !open.card.contains(document.activeElement)) hide(); }, 0));
    link.addEventListener("click", (e) => { // a tap opens the card; a click of a mouse or a key follows the link
      if (e.pointerType !== "touch" && e.pointerType !== "pen") return;
      e.preventDefault();
      if (open && open.link === link) hide();
      else show(link, card);
    });
  }

  function start() {
    tell();
    if (!document.querySelector(".wb-cards")) return;
    document.querySelectorAll('.bd-article a.reference.internal[href*="glossary.html#term-"]').forEach(dress);
    document.addEventListener("keydown", (e) => { if (e.key === "Escape") hide(); });
    document.addEventListener("pointerdown", (e) => {
      if (open && !open.card.contains(e.target) && !open.link.contains(e.target)) hide();
    });
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
