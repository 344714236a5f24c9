import { type LyingNode, startLyingNode } from "@geoswap/devnet";
import { getStatus, waitForSwap } from "@geoswap/sdk";
import { parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { signSolanaSwap, submitSignedSolana } from "../caller/do-solana-swap.ts";
import { signSwap, submitSigned, swapIntent } from "../caller/do-swap.ts";
import { blocksPass } from "../chain/blocks-pass.ts";
import { connectDatabase } from "../environment/connect-database.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { parseMetrics } from "../measure/parse-metrics.ts";
import { ownEnvironment } from "../own-environment.ts";

const agreeAboveUsd = 50;
const small = parseUnits("10", 6);
const large = parseUnits("100", 6);
const patience = { timeout: 60_000, interval: 250 };

const second: { evm?: LyingNode; solana?: LyingNode } = {};
beforeAll(async () => {
	second.evm = await startLyingNode();
	second.solana = await startLyingNode();
});
afterAll(() => Promise.all([second.evm?.stop(), second.solana?.stop()]));

/** Adds a second provider in front of the first provider's node. The test controls its answers. */
function withSecond(chain: Record<string, unknown>, node: LyingNode | undefined): Record<string, unknown> {
	if (!node) throw new Error("the second provider runs before the service");
	const [first] = chain.nodes as [{ url: string }];
	node.targetUrl = first.url;
	return { ...chain, nodes: [first, { url: node.url, roles: ["agree"] }], agreeAboveUsd };
}

const environmentOf = ownEnvironment({
	configure: ({ chains, solana, ...config }) => {
		const [[originId, origin] = ["", {}], ...others] = Object.entries(chains);
		return {
			...config,
			chains: Object.fromEntries([[originId, withSecond(origin, second.evm)], ...others]),
			solana: withSecond(solana ?? {}, second.solana),
		};
	},
});

test("a large deposit that only one provider returns is not delivered until both return it, and a small one does not wait", async () => {
	const environment = environmentOf();
	const { origin, destination, solana, client, databaseUrl, metricsUrls } = environment;
	const pins = environment.deployment;
	const database = await connectDatabase(databaseUrl);
	// Both second providers deny that there is a deposit. All their other answers are true.
	Object.assign(second.evm ?? {}, {
		liar: ({ method }: { method: string }) => (method === "eth_getLogs" ? { result: [] } : undefined),
	});
	Object.assign(second.solana ?? {}, {
		liar: ({ method }: { method: string }) => (method === "getTransaction" ? { result: null } : undefined),
	});

	async function fromEvm(amount: bigint): Promise<string> {
		const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
		const from = { chain: origin, token: "USDC", amount };
		const intent = swapIntent({ from, to: { chain: destination, token: "USDC" }, account });
		const caller = { client, pins, account };
		return (await submitSigned(caller, await signSwap(caller, intent))).swapId;
	}
	async function fromSolana(amount: bigint): Promise<string> {
		const account = await solana.newWallet({ usdc: amount });
		const intent = swapIntent({
			from: { chain: solana, token: "USDC", amount },
			to: { chain: destination, token: "USDC" },
			account,
			recipient: privateKeyToAddress(generatePrivateKey()),
		});
		const caller = { client, pins, account };
		return (await submitSignedSolana(caller, await signSolanaSwap(caller, intent))).swapId;
	}
	/** Counts the answers that did not confirm the first provider. On Solana, a missing transaction may just be late. */
	async function doubts(chainId: number): Promise<number> {
		const metrics = parseMetrics(await (await fetch(metricsUrls.worker)).text());
		const { samples = [] } = metrics.get("geoswap_second_provider_answers_total") ?? {};
		const said = samples.filter(({ labels }) => labels.chain === String(chainId) && labels.word !== "agrees");
		return said.reduce((sum, { value }) => sum + value, 0);
	}
	const crossChecks = () =>
		database.query<{ seen_before: boolean }>(
			`select seen_at < (select min(created_at) from lane_transactions t, jsonb_array_elements(t.jobs) j
			where t.kind = 'fill' and j->>'orderId' = '0x' || encode(s.order_id, 'hex')) as seen_before from cross_checks s`,
		);

	const [largeOnes, smallOnes] = await Promise.all([
		Promise.all([fromEvm(large), fromSolana(large)]),
		Promise.all([fromEvm(small), fromSolana(small)]),
	]);
	for (const swapId of smallOnes)
		expect(await waitForSwap(client, swapId)).toMatchObject({ status: "settled" });
	for (const { chainId } of [origin, solana]) {
		await expect.poll(() => doubts(chainId), patience).toBeGreaterThan(0);
	}
	await blocksPass(destination, 5n);
	for (const swapId of largeOnes) {
		expect(await getStatus(client, swapId)).toMatchObject({ status: "pending", stage: "deposited" });
	}
	expect(await database.query("select from jobs where kind = 'fill' and state <> 'done'")).toEqual([]);
	expect(await crossChecks()).toEqual([]);

	for (const node of [second.evm, second.solana]) if (node) node.liar = undefined;
	for (const swapId of largeOnes)
		expect(await waitForSwap(client, swapId)).toMatchObject({ status: "settled" });
	expect(await crossChecks()).toEqual([{ seen_before: true }, { seen_before: true }]);
	await database.end();
	await expectBooksExact(environment, { withinMs: 60_000 });
});
