import { randomUUID } from "node:crypto";
import type { Browser } from "playwright-core";
import { hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { arbitrumId, baseId } from "../../../test/console/console-config.ts";
import { type ConsoleScene, createConsoleScene } from "../../../test/console/console-scene.ts";
import { findPageProblems } from "../../../test/console/find-page-problems.ts";
import { launchChromium } from "../../../test/console/launch-chromium.ts";

const port = 19_890 + (process.pid % 100);
let scene: ConsoleScene;
let browser: Browser;
beforeAll(async () => {
	scene = await createConsoleScene({ port, isDevnet: true });
	await scene.app.listen({ host: "127.0.0.1", port });
	browser = await launchChromium();
});
afterAll(async () => {
	await browser?.close();
	await scene?.stop();
});

function usdcOf(chainId: number) {
	const chain = scene.config.chains.find((one) => one.chainId === chainId);
	if (chain?.kind !== "evm") throw new Error(`no chain ${chainId}`);
	return { token: chain.deployment.settlementToken, vault: chain.deployment.contracts.vault };
}

async function storePlan(at: Date): Promise<void> {
	const token = (chainId: number, amounts: Record<"held" | "free" | "arriving" | "needed", string>) => ({
		token: usdcOf(chainId).token,
		symbol: "USDC",
		decimals: 6,
		target: "20000000000",
		moveCostBps: 1,
		maxHeld: null,
		...amounts,
	});
	const plan = {
		moves: [
			{
				kind: "bridge",
				reason:
					"Arbitrum One needs 5,000 USDC and has 500 USDC, while Base can spare 15,000 USDC: 4,500 USDC by CCTP earns about 5.62 USD and costs 0.12 USD.",
			},
		],
		reasons: ["Solana stays short of 2,000 USDC: no route leads to it."],
		chains: [
			{
				chainId: baseId,
				name: "Base",
				status: "open",
				tokens: [
					token(baseId, { held: "20000000000", free: "20000000000", arriving: "0", needed: "5000000000" }),
					{
						token: "0x0000000000000000000000000000000000000000",
						symbol: "ETH",
						decimals: 18,
						held: "1250000000000000000",
						free: "1250000000000000000",
						arriving: "0",
						needed: null,
						target: null,
						moveCostBps: null,
						maxHeld: "1000000000000000000",
					},
				],
			},
			{
				chainId: arbitrumId,
				name: "Arbitrum One",
				status: "paused",
				tokens: [
					token(arbitrumId, { held: "700000000", free: "500000000", arriving: "0", needed: "5000000000" }),
				],
			},
		],
	};
	await scene.database.owner.query("insert into treasury_plans values ($1, $2)", [at, JSON.stringify(plan)]);
}

test("the page shows the newest plan, vaults and open declarations, warns of an old plan, and fits a phone and a desk", async () => {
	const context = await browser.newContext();
	const page = await context.newPage();
	await page.goto(`${scene.publicUrl}/invite?token=${await scene.invite("ada")}`);
	await page.goto(`${scene.publicUrl}/treasury`);
	expect(await page.getByRole("alert").textContent()).toMatch(/^There is no plan yet\. /);

	await storePlan(new Date(Date.now() - 3_600_000));
	const { token, vault } = usdcOf(baseId);
	await scene.database.owner.query(
		`insert into treasury_moves (id, kind, chain_id, token, amount, holder, reason, made_by, state)
		values ($1, 'deposit', $2, $3, 50000000000, $4, 'first inventory', 'ada', 'queued')`,
		[randomUUID(), baseId, hexToBytes(token), hexToBytes(vault)],
	);
	await page.reload();
	expect(await page.getByRole("alert").textContent()).toMatch(/^The newest plan is 60 min old\. /);

	await storePlan(new Date());
	for (const [colorScheme, width] of [
		["light", 1_280],
		["dark", 390],
	] as const) {
		await page.emulateMedia({ colorScheme });
		await page.setViewportSize({ width, height: 900 });
		await page.reload();
		expect(await page.getByRole("alert").count()).toBe(0);
		const text = await page.locator("main").textContent();
		expect(text).toContain("4,500 USDC by CCTP earns about 5.62 USD");
		expect(text).toContain("Solana stays short of 2,000 USDC");
		expect(text).toContain("50,000 USDC");
		expect(await page.getByText("short", { exact: true }).count()).toBe(1);
		expect(await page.locator("main button, main form").count()).toBe(0);
		expect(await findPageProblems(page)).toEqual([]);
	}
	await context.close();
});

test("a move shows its state, what happens next, its problem and both transactions, and a pause who paused and why", async () => {
	const context = await browser.newContext();
	const page = await context.newPage();
	await page.goto(`${scene.publicUrl}/invite?token=${await scene.invite("bob")}`);
	await storePlan(new Date());
	const { token, vault } = usdcOf(baseId);
	const add = (state: string, more: { kind?: string; problem?: string; arrived?: string } = {}) =>
		scene.database.owner.query(
			`insert into treasury_moves (id, kind, chain_id, token, amount, holder, address, to_chain_id, to_token, move_id,
				reason, made_by, state, problem, transaction_hash, arrived_transaction)
			select id, $1, $2, $3, 4500000000, $4, sha256(id::text::bytea), case when $1 = 'bridge' then $5::bigint end, $3,
				sha256(id::text::bytea), 'Arbitrum One needs USDC', 'geoswapd worker', $6, $7, $8, $9
			from gen_random_uuid() as id`,
			[
				more.kind ?? "bridge",
				baseId,
				hexToBytes(token),
				hexToBytes(vault),
				arbitrumId,
				state,
				more.problem ?? null,
				hexToBytes(`0x${"ab".repeat(32)}`),
				more.arrived ? hexToBytes(`0x${more.arrived.repeat(32)}`) : null,
			],
		);
	await add("attested");
	await add("arrived", { arrived: "cd" });
	await add("stuck", { problem: "it is late, and waits for the attestation" });
	await add("failed", { kind: "trade", problem: "refused: TooLittleReceived" });
	await scene.database.owner.query(
		"insert into treasury_pauses (paused_by, reason) values ('ada', 'Circle is down')",
	);
	for (const [colorScheme, width] of [
		["light", 1_280],
		["dark", 390],
	] as const) {
		await page.emulateMedia({ colorScheme });
		await page.setViewportSize({ width, height: 900 });
		await page.goto(`${scene.publicUrl}/treasury`);
		const alert = await page.getByRole("alert").textContent();
		expect(alert).toMatch(
			/^The treasury is paused since .* by ada: Circle is down\. Its keys start no move\.$/,
		);
		const text = await page.locator("main").textContent();
		expect(text).toContain("Attested, and waits for the treasurer's key of Arbitrum One to sign the mint.");
		expect(text).toContain("Arrived, and waits until the blocks of both transactions are final.");
		expect(text).toContain("Stuck: it is late, and waits for the attestation.");
		expect(text).toContain("Base → Arbitrum One");
		expect(text).not.toContain("TooLittleReceived");
		expect(await page.locator(`[title="0x${"cd".repeat(32)}"]`).count()).toBe(1);
		expect(await page.locator(`[title="0x${"ab".repeat(32)}"]`).count()).toBe(3);
		expect(await page.locator("main button, main form").count()).toBe(0);
		expect(await findPageProblems(page)).toEqual([]);
	}
	await page.goto(scene.publicUrl);
	const overview = await page.locator("main").textContent();
	expect(overview).toContain("1 move of the treasury from Base is stuck");
	expect(overview).toContain("1 move of the treasury from Base failed in the last hour");
	await context.close();
});
