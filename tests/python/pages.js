// What a page is measured by: run in it by test_pages.py, and in a person's console.
() => {
  const parse = (text) => {
    const parts = text.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    const scale = text.startsWith("color(") ? 255 : 1;
    const [red, green, blue, alpha = 1] = parts;
    return [red * scale, green * scale, blue * scale, alpha];
  };
  const over = (top, below) => {
    const alpha = top[3] + below[3] * (1 - top[3]);
    if (!alpha) return [0, 0, 0, 0];
    return [0, 1, 2].map((at) =>
      (top[at] * top[3] + below[at] * below[3] * (1 - top[3])) / alpha).concat(alpha);
  };
  // Relative luminance and contrast: WCAG 2.2, definitions.
  const luminance = (colour) => {
    const [red, green, blue] = colour.slice(0, 3).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const canvas = getComputedStyle(document.documentElement).colorScheme.includes("dark")
    && matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0, 1] : [255, 255, 255, 1];
  const backgroundOf = (element) => {
    let colour = [0, 0, 0, 0];
    for (let at = element; at; at = at.parentElement) {
      colour = over(colour, parse(getComputedStyle(at).backgroundColor));
      if (colour[3] > 0.99) return colour;
    }
    return over(colour, canvas);
  };
  // Shapes of a drawing that are painted before a text and contain its middle.
  const underText = (text) => {
    let colour = backgroundOf(text.closest("svg").parentElement);
    const box = text.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    for (const shape of text.closest("svg").querySelectorAll("path, rect, circle")) {
      if (shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_PRECEDING) continue;
      if (shape.closest("defs, clipPath")) continue;
      const style = getComputedStyle(shape);
      const edge = shape.getBoundingClientRect();
      if (style.fill === "none" || x < edge.left || x > edge.right || y < edge.top
        || y > edge.bottom || edge.width < 6 || edge.height < 6) continue;
      const matrix = shape.getScreenCTM()?.inverse();
      if (!matrix || !shape.isPointInFill(new DOMPoint(x, y).matrixTransform(matrix))) continue;
      const fill = parse(style.fill);
      fill[3] *= Number(style.fillOpacity) * Number(style.opacity);
      colour = over(fill, colour);
    }
    return colour;
  };

  const small = new Set();
  const faint = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const words = node.textContent.trim();
    const element = node.parentElement;
    if (!words || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
      || element.closest("script, style, title, desc, datalist, option")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const place = range.getBoundingClientRect();
    if (!place.width || !place.height || place.right < 0) continue;
    const style = getComputedStyle(element);
    const isDrawn = element.closest("svg") !== null;
    let size = parseFloat(style.fontSize);
    let colour = parse(style.color);
    let below;
    if (isDrawn) {
      const matrix = element.getScreenCTM();
      size *= Math.sqrt(Math.abs(matrix.a * matrix.d - matrix.b * matrix.c));
      colour = parse(style.fill);
      colour[3] *= Number(style.fillOpacity) * Number(style.opacity);
      below = underText(element);
    } else {
      below = backgroundOf(element);
    }
    const told = `${words.slice(0, 40)} (${element.tagName}.${element.getAttribute("class") ?? ""}`;
    if (size < 10.99) small.add(`${told}, ${size.toFixed(1)} px)`);
    const ratio = contrast(over(colour, below), below);
    if (ratio < 4.5) {
      faint.add(`${told}, ${ratio.toFixed(2)}: ${style.color} on ${below.map(Math.round)})`);
    }
  }
  const root = document.documentElement;
  const wide = root.scrollWidth <= root.clientWidth ? [] :
    [...document.body.querySelectorAll("*")]
      .filter((one) => one.getBoundingClientRect().right > root.clientWidth + 1
        && !one.closest("svg, .wide *"))
      .map((one) => one.outerHTML.slice(0, 90)).slice(0, 8);
  return {
    page: root.scrollWidth, width: root.clientWidth, wide,
    small: [...small].slice(0, 12), faint: [...faint].slice(0, 12),
  };
}
