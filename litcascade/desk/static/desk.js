"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");
  const store = {
    get(key) { try { return localStorage.getItem(key); } catch { return null; } },
    set(key, value) { try { localStorage.setItem(key, value); } catch { /* a full or closed store costs the draft alone */ } },
    drop(key) { try { localStorage.removeItem(key); } catch { /* as above */ } },
  };
  const user = `${document.body.dataset.review || ""} ${document.body.dataset.user || ""}`;  // drafts of one person in one review
  const inField = (node) => node instanceof Element && node.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");

  // Keys: every control names its own; they can be turned off.
  let keysOff = store.get("desk keys") === "off";
  const showKeys = () => {
    root.classList.toggle("no-keys", keysOff);
    for (const button of document.querySelectorAll("[data-toggle-keys]")) {
      button.textContent = keysOff ? "Turn the keys on" : "Turn the keys off";
    }
  };
  showKeys();
  for (const button of document.querySelectorAll("[data-toggle-keys]")) {
    button.addEventListener("click", () => {
      keysOff = !keysOff;
      store.set("desk keys", keysOff ? "off" : "on");
      showKeys();
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && inField(event.target)) { event.target.blur(); return; }
    if (keysOff || event.ctrlKey || event.metaKey || event.altKey || event.repeat || inField(event.target)) return;
    const wanted = event.key.toLowerCase();
    if (!/^[a-z0-9]$/.test(wanted)) return;
    const node = document.querySelector(`[data-key="${wanted}"]`);
    if (!node) return;
    event.preventDefault();
    if (node.matches("details")) node.open = !node.open;
    else if (node.matches("input[type=radio]")) { node.checked = true; node.focus(); }
    else if (node.matches("input[type=checkbox]")) { node.checked = !node.checked; node.focus(); }
    else if (node.matches("button, a")) node.click();
    else {
      const around = node.closest("details");
      if (around) around.open = true;
      node.focus();
    }
  });

  // The words a person has marked become the quote of the rationale.
  let marked = "";
  document.addEventListener("selectionchange", () => {
    const chosen = document.getSelection();
    const from = chosen && chosen.anchorNode && chosen.anchorNode.parentElement;
    if (chosen && !chosen.isCollapsed && from && from.closest("[data-text]")) marked = chosen.toString().trim();
  });
  for (const button of document.querySelectorAll("[data-pick]")) {
    button.addEventListener("click", () => {
      const quote = document.querySelector("[data-quote]");
      button.closest("details").open = true;
      if (marked) {
        quote.value = marked;
        quote.dispatchEvent(new Event("input", { bubbles: true }));
      }
      (marked ? document.getElementById("reasoning") : quote).focus();
    });
  }

  for (const button of document.querySelectorAll("[data-confirm]")) {
    button.addEventListener("click", () => {
      for (const field of document.querySelectorAll("fieldset.urgent")) {
        const choice = field.querySelector("input[value=confirm]");
        if (choice) choice.checked = true;
      }
    });
  }
  for (const field of document.querySelectorAll("fieldset.value")) {
    field.addEventListener("input", (event) => {
      const choice = field.querySelector("input[value=change]");
      if (choice && event.target.name.startsWith("value:")) choice.checked = true;
    });
  }

  // What is typed is kept in this browser until it is stored: a closed tab or a lost connection loses no words.
  if (document.querySelector("[data-stored]")) {
    const sent = store.get(`desk sent ${user}`);
    if (sent) store.drop(sent);
  }
  store.drop(`desk sent ${user}`);
  for (const form of document.querySelectorAll("form[data-draft]")) {
    const place = `desk draft ${user} ${location.pathname} ${form.dataset.draft}`;
    const fields = [...form.querySelectorAll("#note, #quote, #reasoning, #change")];
    let kept = {};
    try { kept = JSON.parse(store.get(place) || "{}"); } catch { kept = {}; }
    for (const field of fields) {
      if (typeof kept[field.name] === "string" && (!field.value || field.value === field.defaultValue)) {
        field.value = kept[field.name];
        const around = field.value && field.closest("details");
        if (around) around.open = true;
      }
    }
    form.addEventListener("input", () => {
      const words = Object.fromEntries(fields.filter((field) => field.value && field.value !== field.dataset.given).map((field) => [field.name, field.value]));
      if (Object.keys(words).length) store.set(place, JSON.stringify(words));
      else store.drop(place);
    });
    let gone = false;
    form.addEventListener("submit", (event) => {
      if (gone) { event.preventDefault(); return; }
      gone = true;
      if (!event.submitter || event.submitter.value !== "skip") store.set(`desk sent ${user}`, place);
      setTimeout(() => { gone = false; }, 8000);
    });
  }
})();
