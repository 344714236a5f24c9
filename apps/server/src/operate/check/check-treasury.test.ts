import { startLyingNode, startTestChains } from "@geoswap/devnet";
import { expect, onTestFinished, test } from "vitest";
import { testConfig } from "../../../test/desk/test-prices.ts";
import { firstUrl } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { checkTreasury, judgePolicy } from "./check-treasury.ts";

test("a policy whose largest move cannot pay for itself fails, without targets it warns, and no route needs no check", async () => {
	const chains = await startTestChains();
	onTestFinished(() => chains.stop());
	const config = testConfig(chains);
	const withoutRoutes = config.chains.map((chain) => {
		if (chain.kind === "solana") throw new Error("the test has two EVM chains");
		const { cctp: _, ...deployment } = chain.deployment;
		return { ...chain, deployment };
	});
	expect(await checkTreasury({ ...config, chains: withoutRoutes })).toEqual([]);
	const withTarget = (inventoryTargetUsd?: number): Config => ({
		...config,
		chains: config.chains.map((chain) => ({
			...chain,
			...(inventoryTargetUsd !== undefined && { inventoryTargetUsd }),
		})),
	});
	expect(await checkTreasury(withTarget(1_000_000))).toEqual([
		{
			part: "treasury.policy",
			result: "ok",
			message: "the largest move pays for itself on every route at present fees",
		},
	]);
	expect(await checkTreasury(withTarget(0))).toMatchObject([{ result: "fail" }, { result: "fail" }]);
	expect(await checkTreasury(withTarget())).toMatchObject([{ result: "warn" }, { result: "warn" }]);

	// Burn and mint at 2 USD each: twice 4 USD over 12.5 bps, and a little for the wait.
	const twoUsd = () => 2n * 10n ** 18n;
	expect(judgePolicy(withTarget(10_000), twoUsd)).toMatchObject([
		{ result: "fail", message: expect.stringMatching(/from 64\d\d\.\d\d USD on.*at most 6000\.00 USD/) },
		{ result: "fail" },
	]);
	expect(judgePolicy(withTarget(11_000), twoUsd)).toMatchObject({ result: "ok" });
});

test("the cost of moves is known even if the chains' quoters do not answer in time", async () => {
	const chains = await startTestChains();
	onTestFinished(() => chains.stop());
	const config = testConfig(chains);
	const slow = await Promise.all(
		config.chains.map(async (chain) => {
			if (chain.kind === "solana") throw new Error("the test has two EVM chains");
			const node = await startLyingNode({ targetUrl: firstUrl(chain) });
			onTestFinished(node.stop);
			const quoter = chain.deployment.uniswap.quoterV2.slice(2).toLowerCase();
			node.liar = ({ params }) => (JSON.stringify(params).includes(quoter) ? "nothing" : undefined);
			return { ...chain, nodes: [{ ...chain.nodes[0], url: node.url }], inventoryTargetUsd: 1_000_000 };
		}),
	);
	expect(await checkTreasury({ ...config, chains: slow as Config["chains"] })).toMatchObject([
		{ result: "ok" },
	]);
});
