// A link opens the section that it leads to.
const unfold = () => document.getElementById(location.hash.slice(1))?.querySelector(".fold")?.setAttribute("open", "");
addEventListener("hashchange", unfold);
unfold();

// Sliders lay maps over their images; a picture opens in a dialog, where the arrow keys lead to its neighbours.
const pictures = [...document.querySelectorAll(".gallery svg[role=img]")];
if (pictures.length) {
  const overlay = document.querySelector(".overlay");
  const dialog = document.createElement("dialog");
  dialog.innerHTML = '<figure></figure><p class="steps"><button type="button">←</button> <strong></strong> <button type="button">→</button> <button type="button">Close</button></p>';
  dialog.append(overlay.cloneNode(true));
  document.body.append(dialog);
  const [back, on, close] = dialog.querySelectorAll("button");
  back.setAttribute("aria-label", "previous picture");
  on.setAttribute("aria-label", "next picture");
  let shown = 0;

  const show = (number) => {
    shown = (number + pictures.length) % pictures.length;
    const copy = pictures[shown].cloneNode(true);
    copy.removeAttribute("tabindex");
    copy.querySelector("[id]")?.removeAttribute("id");
    dialog.querySelector("figure").replaceChildren(copy);
    dialog.querySelector("strong").textContent = copy.getAttribute("aria-label");
    if (!dialog.open) dialog.showModal();
  };
  pictures.forEach((picture, number) => {
    picture.tabIndex = 0;
    picture.addEventListener("click", () => show(number));
    picture.addEventListener("keydown", (event) => event.key === "Enter" && show(number));
  });
  back.addEventListener("click", () => show(shown - 1));
  on.addEventListener("click", () => show(shown + 1));
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("keydown", (event) => {
    if (event.target.matches("input")) return;
    if (event.key === "ArrowLeft") show(shown - 1);
    if (event.key === "ArrowRight") show(shown + 1);
  });

  const sliders = document.querySelectorAll(".overlay");
  for (const slider of sliders) {
    slider.hidden = false;
    slider.querySelector("input").addEventListener("input", (event) => {
      document.documentElement.style.setProperty("--map", event.target.value / 100);
      for (const other of sliders) {
        other.querySelector("input").value = event.target.value;
        other.querySelector("output").textContent = event.target.value;
      }
    });
  }
}
