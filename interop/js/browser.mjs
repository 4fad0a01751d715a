// The browser of ferry login: it goes through the pages from the URL in its first
// argument as a user does, and prints a line of JSON for each page: its title and
// what a screen reader would say of it. FERRY_BROWSER is the program of the browser,
// FERRY_PASSPHRASES what is typed, one after the other, and FERRY_DECISION the button
// that is pressed in the end. Pictures of the pages go to the folder
// FERRY_PICTURES, if it is set.
import { chromium } from 'playwright-core';

const env = process.env;
const browser = await chromium.launch({
    executablePath: env.FERRY_BROWSER,
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [], // root can have none
});
const page = await browser.newPage();
const problems = [];
page.on('console', m => /security policy/i.test(m.text()) && problems.push(m.text()));
page.on('pageerror', e => problems.push(String(e)));

async function look(name) {
    await page.waitForLoadState();
    console.log(JSON.stringify({ page: name, title: await page.title(), text: await page.locator('body').ariaSnapshot() }));
    for (const width of [1280, 380]) {
        await page.setViewportSize({ width, height: 800 });
        if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) problems.push(`${name} does not fit into ${width} pixels`);
        for (const colorScheme of env.FERRY_PICTURES ? ['light', 'dark'] : []) {
            await page.emulateMedia({ colorScheme });
            await page.screenshot({ path: `${env.FERRY_PICTURES}/${env.FERRY_DECISION} ${name} ${colorScheme} ${width}.png` });
        }
    }
}

try {
    await page.goto(process.argv[2]);
    await look('sign in');
    const passphrases = env.FERRY_PASSPHRASES.split(' ');
    for (const [i, passphrase] of passphrases.entries()) {
        await page.getByLabel('Passphrase').fill(passphrase);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await look(i + 1 < passphrases.length ? 'wrong passphrase' : 'consent');
    }
    await page.getByRole('button', { name: env.FERRY_DECISION, exact: true }).click();
    await look('end');
} catch (e) {
    problems.push(String(e));
} finally {
    await browser.close();
}
for (const text of problems) console.log(JSON.stringify({ page: 'problem', text }));
