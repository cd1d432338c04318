/* Concept questions that answer at once. The page has each question as a list of choices and a fold with answers; this turns the list into radio buttons and
 * takes what it says from the fold, so nothing is said twice. Without this script the folds are there. */
(function (Whichbird) {
  "use strict";

  /** What a choice gets to hear, and how many of the questions tried so far were right at the first try. */
  function verdict(right) { return right ? "✓ Right." : "✗ Not this one."; }

  function tally(tries) {
    const done = tries.filter((t) => t !== null);
    const right = done.filter(Boolean).length;
    if (!done.length) return "";
    return `${right} of ${done.length} right at the first try` + (done.length < tries.length ? `, ${tries.length - done.length} to go.` : ".");
  }

  Object.assign(Whichbird, { questionVerdict: verdict, questionTally: tally });
  if (typeof document === "undefined") return;

  function make(tag, attributes, children) {
    const node = document.createElement(tag);
    Object.entries(attributes || {}).forEach(([name, value]) => node.setAttribute(name, value));
    node.append(...(children || []));
    return node;
  }

  function begin(box) {
    const questions = [...box.querySelectorAll(".wb-question")];
    const tries = questions.map(() => null);
    const told = make("p", { role: "status", class: "wb-tally" });
    const again = make("button", { type: "button", hidden: "" }, ["Start again"]);

    questions.forEach((question, n) => {
      const stem = question.querySelector(".wb-stem"), list = question.querySelector(".wb-choices"), fold = question.querySelector(".wb-answers");
      const legend = make("legend", { class: "wb-stem" }, [...stem.childNodes]);
      const says = make("div", { class: "wb-says", "aria-live": "polite" });
      const labels = [...list.children].map((choice, m) => {
        const letter = "ABCD"[m];
        const input = make("input", { type: "radio", name: question.id, value: letter });
        input.addEventListener("change", () => answer(letter));
        return make("label", {}, [input, make("b", {}, [letter]), make("span", {}, [...choice.childNodes])]);
      });
      const form = make("fieldset", {}, [legend, ...labels]);

      function answer(letter) {
        const given = fold.querySelector(`[data-choice="${letter}"]`), right = given.hasAttribute("data-right");
        const words = given.cloneNode(true);
        words.querySelectorAll("b:first-child, em:nth-child(2)").forEach((node) => node.remove());
        says.replaceChildren(make("p", {}, [make("strong", {}, [verdict(right)]), " ", ...words.childNodes]));
        question.dataset.state = right ? "right" : "wrong";
        labels.forEach((label, m) => label.classList.toggle("wb-chosen", "ABCD"[m] === letter));
        if (tries[n] === null) tries[n] = right;
        update();
      }

      stem.remove();
      list.replaceWith(form);
      form.after(says);
      fold.querySelector("summary").textContent = "All answers";
    });

    function update() {
      told.textContent = tally(tries);
      again.hidden = tries.every((t) => t === null);
    }
    again.addEventListener("click", () => {
      tries.fill(null);
      questions.forEach((question) => {
        delete question.dataset.state;
        question.querySelectorAll("input").forEach((input) => { input.checked = false; });
        question.querySelectorAll(".wb-chosen").forEach((label) => label.classList.remove("wb-chosen"));
        question.querySelector(".wb-says").replaceChildren();
        question.querySelector(".wb-answers").open = false;
      });
      update();
      questions[0].querySelector("input").focus();
    });
    box.append(make("div", { class: "wb-foot" }, [told, again]));
    box.classList.add("wb-live-questions");
  }

  document.querySelectorAll(".wb-questions").forEach(begin);
})((globalThis.Whichbird = globalThis.Whichbird || {}));
