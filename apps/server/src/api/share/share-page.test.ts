import { join } from "node:path";
import { isSolana, type SwapUuid } from "@geoswap/protocol";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createShareScene, type ShareScene } from "../../../test/api/share-scene.ts";
import { findPageProblems } from "../../../test/console/find-page-problems.ts";
import { launchChromium } from "../../../test/console/launch-chromium.ts";
import type { Story } from "../../../test/console/seed-swaps.ts";

const images = join(import.meta.dirname, "../../../../../docs/images");
const widths = { phone: { width: 390, height: 844 }, desktop: { width: 1_280, height: 860 } };

/** The states that the pictures show, with the story that leads there. */
const states = {
	pending: "deposited",
	settled: "settled",
	refunded: "refunded",
	failed: "failed",
	stuck: "delivering",
} as const satisfies Record<string, Story>;
const others: Story[] = ["opening", "delivered", "refunding"];

let scene: ShareScene;
let browser: Browser;
const ids = new Map<string, SwapUuid>();
const paths = new Map<string, string>();

beforeAll(async () => {
	scene = await createShareScene();
	const several = (...stories: Story[]) => stories.flatMap((story) => Array<Story>(4).fill(story));
	const ended = await scene.seed({
		stories: several("settled", "refunded", "failed"),
		atMs: Date.now() - 2_500_000,
	});
	const underWay = await scene.seed({
		stories: several(states.pending, states.stuck, ...others),
		atMs: Date.now() - 14_000,
	});
	await scene.publish();
	// On Solana a deposit is confirmed before a viewer could open the page.
	const shown = [...ended, ...underWay].filter(({ order }) => !isSolana(Number(order.originChainId)));
	for (const story of [...Object.values(states), ...others]) {
		const name = Object.entries(states).find(([, one]) => one === story)?.[0] ?? story;
		const id = shown.find((one) => one.story === story)?.id as SwapUuid;
		ids.set(name, id);
		paths.set(name, await scene.share(id));
	}
	ids.set("live", shown.findLast(({ story }) => story === "deposited")?.id as SwapUuid);
	await scene.forget(ids.get("stuck") as SwapUuid, "attesters-silent");
	browser = await launchChromium();
}, 300_000);
afterAll(async () => {
	await browser?.close();
	await scene?.stop();
});

/** Opens a page and records everything that should not happen in it. */
async function open(
	path: string,
	options: Parameters<Browser["newContext"]>[0] = {},
): Promise<{ page: Page; problems: string[] }> {
	const context = await browser.newContext({ timezoneId: "UTC", locale: "en-GB", ...options });
	const page = await context.newPage();
	const problems: string[] = [];
	page.on("console", (message) => problems.push(message.text()));
	page.on("pageerror", (error) => problems.push(error.message));
	page.on("request", (request) => {
		if (!request.url().startsWith(scene.baseUrl)) problems.push(`asked for ${request.url()}`);
	});
	await page.goto(scene.baseUrl + path);
	return { page, problems };
}

test("no page has a serious accessibility problem, sends a request to another host, or scrolls sideways, light or dark, on a phone or a desktop", async () => {
	const found: string[] = [];
	const all = [...paths, ["gone", `/s/${"A".repeat(24)}`] as const];
	for (const colorScheme of ["light", "dark"] as const) {
		const { page, problems } = await open(paths.get("settled") ?? "", {
			colorScheme,
			viewport: widths.phone,
		});
		for (const [name, path] of all) {
			problems.splice(0);
			await page.goto(scene.baseUrl + path);
			// The browser itself reports that the link is wrong.
			if (name !== "gone") found.push(...problems.map((problem) => `${name}: ${problem}`));
			const note = async (device: string) => {
				const seen = await findPageProblems(page);
				found.push(...seen.map((problem) => `${name} ${device} ${colorScheme}: ${problem}`));
			};
			await note("phone");
			// The desktop's page is the phone's with more room around it.
			if (name !== "stuck") continue;
			await page.setViewportSize(widths.desktop);
			await note("desktop");
			await page.setViewportSize(widths.phone);
		}
		await page.context().close();
	}
	expect(found).toEqual([]);
}, 300_000);

test.each([
	["pending", "In progress", "(was taken|is on its way)", "in a contract"],
	["settled", "Done", "arrived", "with the recipient"],
	["refunded", "Sent back", "came back", "back in the wallet"],
	["failed", "Did not happen", "Nothing was taken", "still in the wallet"],
	["stuck", "Delayed", "payout is delayed", "in a contract"],
	["opening", "Starting", "is being taken", "in the wallet"],
	["refunding", "Being sent back", "is going back", "in a contract"],
])(
	"the page of a swap that is %s shows its status, and where its money is, also without scripts",
	async (name, status, headline, where) => {
		const { page } = await open(paths.get(name) ?? "", { javaScriptEnabled: false });
		const summary = page.locator("main section").first();
		expect(await summary.locator(".status").textContent()).toBe(status);
		expect(await page.locator("h1").textContent()).toMatch(new RegExp(headline));
		expect(await page.getByRole("region", { name: "Where the money is" }).textContent()).toMatch(
			new RegExp(where),
		);
		// A page that can still change is reloaded by browsers without scripts. Others are not.
		const isOver = ["settled", "refunded", "failed"].includes(name);
		expect(await page.locator('meta[http-equiv="refresh"]').count()).toBe(isOver ? 0 : 1);
		await page.context().close();
	},
);

test("the page of a stuck swap shows the reason, and what will happen to the money regardless", async () => {
	const { page } = await open(paths.get("stuck") ?? "");
	const text = (await page.locator("main section").first().textContent()) ?? "";
	expect(text).toContain("The independent signers, without whom nothing is paid out, do not answer.");
	expect(text).toMatch(/What was agreed still holds: at least [\d.,]+ USDC .* lets anyone send it back/);
	const terms = await page.locator("section", { hasText: "What was agreed" }).last().textContent();
	expect(terms).toMatch(/For gas\s*0\.0(004 ETH|02 SOL) in addition/);
	await page.context().close();
});

test("the page follows the swap without a reload, from the deposit to its end, and announces it to screen readers", async () => {
	const id = ids.get("live") as SwapUuid;
	const { page, problems } = await open(await scene.share(id));
	await page.evaluate("window.isTheSame = true");
	expect(await page.locator(".status").textContent()).toBe("In progress");
	const { owner } = scene.database;
	await owner.query(
		"update swaps set stage = 'delivering', moves = moves || 'delivering'::text where id = $1",
		[id],
	);
	await scene.publish();
	await page.getByRole("heading", { name: "is on its way" }).waitFor();
	await owner.query(
		`update swaps set status = 'settled', stage = 'delivered', moves = moves || 'settled'::text, delivered_amount = output,
			delivery_tx_hash = '\\x${"0b".repeat(32)}', delivered_at = now(), decided_at = now() where id = $1`,
		[id],
	);
	await scene.publish();
	await page.getByRole("heading", { name: "arrived" }).waitFor();
	expect(await page.locator("#said").textContent()).toContain("arrived");
	expect(await page.title()).toContain("Done");
	expect(await page.evaluate("window.isTheSame")).toBe(true);
	expect(problems).toEqual([]);
	await page.context().close();
});

test("a page whose link is revoked while it is open shows that, without a reload", async () => {
	const id = ids.get("opening") as SwapUuid;
	const { page } = await open(paths.get("opening") ?? "");
	await page.locator(".status").waitFor();
	await scene.ask("DELETE", id);
	await scene.database.owner.query(
		"update swaps set stage = 'deposited', moves = moves || 'deposited'::text where id = $1",
		[id],
	);
	await scene.publish();
	await page.getByRole("heading", { name: "Nothing to see here" }).waitFor();
	expect(await page.locator("main").textContent()).not.toContain("USDC");
	await page.context().close();
});

test.runIf(process.env.GEOSWAP_SCREENSHOTS)("the pages are rendered to pictures for the docs", async () => {
	for (const [device, viewport] of Object.entries(widths)) {
		const pictures: string[] = [];
		for (const name of Object.keys(states)) {
			const colorScheme = name === "settled" ? "dark" : "light";
			const { page } = await open(paths.get(name) ?? "", { colorScheme, viewport });
			pictures.push((await page.screenshot()).toString("base64"));
			await page.context().close();
		}
		// All pages in one picture, which is smaller than one picture for each.
		const [width, all] = device === "phone" ? [300, 1_580] : [620, 1_270];
		const page = await browser.newPage({ viewport: { width: all, height: 100 } });
		const shown = pictures.map((data) => `<img width="${width}" src="data:image/png;base64,${data}">`);
		await page.setContent(
			`<body style="margin:0;padding:8px;display:flex;flex-wrap:wrap;gap:12px">${shown.join("")}`,
		);
		await page.screenshot({ path: join(images, `share-${device}.png`), fullPage: true });
		await page.close();
	}
});
