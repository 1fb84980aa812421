// Opens every page of the site in a browser, and fails if a request leaves the machine, if a page
// scrolls sideways, has no text, or has an image that cannot be shown, or if a text has too little
// contrast. It takes the screenshots of README.md beside it.
//
//   node check.mjs FOLDER-OF-THE-SITE FOLDER-FOR-SCREENSHOTS
//
// CHROMIUM names the browser (/usr/bin/chromium), PLAYWRIGHT the folder of playwright-core.
import { createRequire } from "node:module";
import { readdirSync, mkdirSync } from "node:fs";
import { join, resolve, relative } from "node:path";
import { pathToFileURL } from "node:url";

const [site, shots] = process.argv.slice(2).map(p => resolve(p));
const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT || "playwright-core");

const pages = readdirSync(site, { recursive: true }).filter(f => f.endsWith(".html")).sort();
const faults = [];
const fault = (page, text) => { faults.push(page + ": " + text); };

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const views = {
  light: { colorScheme: "light", viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  phone: { colorScheme: "light", viewport: { width: 375, height: 812 }, isMobile: true, hasTouch: true },
};

// measure runs in the page: its width, text, images and least contrast.
function measure() {
  const channels = c => (c.match(/[\d.]+/g) || []).map(Number);
  const luminance = ([r, g, b]) => {
    const f = v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
  };
  const back = e => {
    for (; e; e = e.parentElement) {
      const c = channels(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  let contrast = 21, least = "";
  for (const e of [...document.querySelectorAll("main *, nav a, header a, aside a")].slice(0, 3000)) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const a = luminance(channels(getComputedStyle(e).color)), b = luminance(back(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < contrast) { contrast = ratio; least = e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 30); }
  }
  return {
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    text: document.querySelector("main").innerText.length,
    blank: [...document.images].filter(i => !i.complete || i.naturalWidth === 0).map(i => i.src),
    back: getComputedStyle(document.body).backgroundColor,
    contrast, least,
  };
}

let requests = 0;
mkdirSync(shots, { recursive: true });
const backs = {};
for (const [name, view] of Object.entries(views)) {
  const context = await browser.newContext(view);
  const page = await context.newPage();
  let at = "";
  page.on("request", r => {
    requests++;
    if (!/^(file|data):/.test(r.url())) fault(at, "requests " + r.url());
  });
  page.on("pageerror", e => fault(at, e.message));
  for (at of pages) {
    await page.goto(pathToFileURL(join(site, at)).href);
    const m = await page.evaluate(measure);
    if (m.wide > 0) fault(at, `${name}: is ${m.wide} pixels wider than the window`);
    if (m.text < 20) fault(at, `${name}: has no text`);
    for (const i of m.blank) fault(at, `${name}: the image ${relative(site, i)} is not shown`);
    if (m.contrast < 4.5) fault(at, `${name}: contrast ${m.contrast.toFixed(2)} of ${m.least}`);
    backs[name] = m.back;
  }
  at = "index.html";
  await page.goto(pathToFileURL(join(site, at)).href);
  await page.screenshot({ path: join(shots, name + ".png") });
  await page.fill("#search", "shrink");
  const hits = await page.locator("#found a").count();
  if (hits === 0) fault(at, name + ": the search for shrink finds nothing");
  else {
    await page.keyboard.press("Enter");
    await page.waitForURL(/\.html#/);
  }
  await context.close();
}
if (backs.light === backs.dark) fault("index.html", "light and dark have the same background");
await browser.close();
for (const f of faults) console.error(f);
console.log(`${pages.length} pages, light, dark and at the width of a phone: ${requests} requests, all to files of the site; ${faults.length} faults`);
process.exit(faults.length > 0 ? 1 : 0);
