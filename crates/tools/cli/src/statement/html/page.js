
"use strict";
(() => {
  const rows = Array.from(document.querySelectorAll("tr.e"));
  // Amounts are found with and without commas.
  const content = (row) => row.textContent + " " + (row.dataset.amount ?? "");
  const texts = rows.map((row) => content(row).normalize("NFKC").toLowerCase());
  const query = document.getElementById("query");
  const shown = document.getElementById("shown");
  const scale = 18;
  const number = (text) => {
    const [whole, fraction = ""] = text.split(".");
    return BigInt(whole + fraction.padEnd(scale, "0").slice(0, scale));
  };
  const decimal = (value) => {
    const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, "0");
    const fraction = digits.slice(-scale).replace(/0+$/, "").padEnd(2, "0");
    const whole = digits.slice(0, -scale).replace(/\B(?=(\d{3})+$)/g, ",");
    return (value < 0n ? "-" : "") + whole + "." + fraction;
  };
  const search = () => {
    const words = query.value.normalize("NFKC").toLowerCase().split(/\s+/).filter(Boolean);
    // Booked and pending entries have sums of their own.
    const sums = new Map();
    let count = 0;
    rows.forEach((row, index) => {
      const hit = words.every((word) => texts[index].includes(word));
      row.hidden = !hit;
      if (!hit) return;
      count += 1;
      const { amount, currency } = row.dataset;
      const kind = currency + " " + row.closest("table").dataset.group.toLowerCase();
      if (amount !== undefined) sums.set(kind, (sums.get(kind) ?? 0n) + number(amount));
    });
    const net = Array.from(sums, ([kind, sum]) => decimal(sum) + " " + kind).join(", ");
    shown.textContent = count + " of " + rows.length + (net ? ", net " + net : "");
  };
  query.addEventListener("input", search);
  document.getElementById("search").hidden = false;
  search();
})();
