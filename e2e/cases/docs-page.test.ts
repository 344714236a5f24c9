import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../environment/launch-chromium.ts";
import { sharedEnvironment } from "../shared-environment.ts";

const { baseUrl } = sharedEnvironment();
let browser: Browser;

beforeAll(async () => {
	browser = await launchChromium();
});
afterAll(() => browser?.close());

/** Opens the page, and returns it with the problems that occurred. */
async function open(path: string, viewport: { width: number; height: number }) {
	const page = await browser.newPage({ viewport });
	const problems: string[] = [];
	page.on("console", (message) => problems.push(message.text()));
	page.on("pageerror", (error) => problems.push(error.message));
	page.on("requestfailed", (request) => problems.push(`${request.url()} failed`));
	page.on("response", (response) => {
		if (response.status() >= 400) problems.push(`${response.url()} is ${response.status()}`);
	});
	await page.goto(baseUrl + path, { waitUntil: "networkidle" });
	return { page, problems };
}

/** Returns how far the page can be scrolled sideways. */
const sidewaysPx = (page: Page) => page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");

describe.each([
	{ width: 1440, height: 900 },
	{ width: 390, height: 844 },
])("at $width px", (viewport) => {
	test.each(["/docs", "/docs/errors/NO_ROUTE"])(
		"%s opens without an error and does not scroll sideways",
		async (path) => {
			const { page, problems } = await open(path, viewport);
			expect(problems).toEqual([]);
			expect(await sidewaysPx(page)).toBe(0);
			await page.close();
		},
	);

	test("the contents link to an endpoint, and every endpoint has its heading [D-beyond-6, D-beyond-7]", async () => {
		const { paths } = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as {
			paths: Record<string, Record<string, { operationId: string; summary: string }>>;
		};
		const { page } = await open("/docs", viewport);
		for (const methods of Object.values(paths)) {
			for (const { operationId, summary } of Object.values(methods)) {
				const heading = page.locator(`#${operationId} h3`);
				expect(await heading.textContent()).toBe(summary);
				expect(await heading.isVisible()).toBe(true);
			}
		}
		const contents = page.getByText("Contents", { exact: true });
		if (await contents.isVisible()) await contents.click();
		const link = page.getByRole("link", { name: "Follow a swap" }).first();
		await link.click();
		await page.waitForURL(/#getStatus$/);
		expect(await sidewaysPx(page)).toBe(0);
		await page.close();
	});
});

test("every link of the pages returns 200", async () => {
	const links = new Set<string>();
	for (const path of ["/docs", "/docs/errors/NO_ROUTE"]) {
		const { page } = await open(path, { width: 1440, height: 900 });
		for (const link of await page.getByRole("link").all()) {
			const href = (await link.getAttribute("href")) ?? "";
			links.add(new URL(href, baseUrl + path).href.replace(/#.*/, ""));
		}
		await page.close();
	}
	expect(links.size).toBeGreaterThan(20);
	for (const link of links) expect((await fetch(link)).status, link).toBe(200);
});
