// Logs in with a real browser: node login.mjs BROWSER URL PASSPHRASE FOLDER. It makes a
// mistake first, allows what is asked for, and puts pictures of the pages into FOLDER.
import { join } from "node:path";
import { chromium } from "playwright-core";

const [executablePath, url, passphrase, folder] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const page = await browser.newPage({ viewport: { width: 900, height: 700 } });
  page.setDefaultTimeout(20000);
  const picture = (name) => page.screenshot({ path: join(folder, name + ".png") });
  const refused = [];
  page.on("console", (m) => m.text().includes("Content Security Policy") && refused.push(m.text()));
  await page.goto(url);
  await picture("sign-in");
  await page.fill("input[name=passphrase]", "wrong");
  await page.click("button");
  await page.waitForSelector("[role=alert]");
  await page.fill("input[name=passphrase]", passphrase);
  await page.click("button");
  await page.waitForSelector("button[value=allow]");
  await picture("consent");
  await page.click("button[value=allow]");
  await page.waitForURL("**/callback?*");
  await picture("done");
  console.log(await page.textContent("h1"));
  if (refused.length > 0) throw new Error(refused.join("\n"));
} finally {
  await browser.close();
}
