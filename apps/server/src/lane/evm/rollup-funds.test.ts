import { type RollupNode, startRollupNode } from "@geoswap/devnet";
import { toWord } from "@geoswap/protocol";
import { bytesToHex, parseTransaction } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
	createLaneScene,
	followHead,
	type LaneScene,
	newOrder,
	newWallet,
	queueWork,
} from "../../../test/lane/lane-scene.ts";
import { startLane } from "../../../test/lane/start-lane.ts";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import { feeModelOf } from "../../chain/evm/fee/fee-model.ts";
import { readFeeRates } from "../../chain/evm/fee/read-tip.ts";
import { evmTransactions } from "../../desk/network-cost.ts";

// The rollup is a model in front of anvil, which refuses a sender that could not pay for data and operator.

let scene: LaneScene;
let node: RollupNode;
beforeAll(async () => {
	scene = await createLaneScene();
	node = await startRollupNode({ kind: "op-stack", chain: scene.chains.destination });
});
afterAll(async () => {
	await node.stop();
	await scene.stop();
});

test("on the OP stack, a transaction waits until its relayer also holds the fees for data and operator", async () => {
	const { pool, chains, relayers } = scene;
	const { chainId, testClient, deployment } = chains.destination;
	await node.setL1BaseFee(200_000_000_000n);
	const chain = connectChain({ chainId, rpcUrl: node.url, deployment: { ...deployment, kind: "op-stack" } });
	const minimumTipWei = "1000000";
	const [account] = relayers;
	if (!account) throw new Error("there is a relayer");
	const run = startLane(scene, chain, { policy: { minimumTipWei }, accounts: [account] });
	const runWith = async (balance: bigint) => {
		await testClient.setBalance({ address: account.address, value: balance });
		await followHead(pool, chain);
		await run();
		const { rows } = await pool.query<{ state: string; raw: Uint8Array }>(
			"select state, raw from lane_transactions where state <> 'final'",
		);
		expect(rows).toHaveLength(1);
		const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(bytesToHex(rows[0]?.raw ?? new Uint8Array()));
		return { state: rows[0]?.state, gas, maxFeePerGas };
	};

	const wallet = toWord((await newWallet(scene)).address);
	const order = await newOrder(scene, { wallet });
	await queueWork(pool, order, {
		kind: "fill",
		payload: { delivery: { kind: "inventory", amount: 9_950_000n } },
	});
	const { state, gas, maxFeePerGas } = await runWith(1n);
	expect(state).toBe("signed");
	const rates = await readFeeRates(chain, { tip: BigInt(minimumTipWei) });
	const { fastLzBytes, brotliBytes } = evmTransactions.fillFromInventory;
	const { mustHold } = feeModelOf(chain.deployment);
	const needed = mustHold(rates, { gas, fastLzBytes, brotliBytes });
	for (const tooLittle of [gas * maxFeePerGas, (needed * 9n) / 10n]) {
		expect(needed).toBeGreaterThan(tooLittle);
		expect((await runWith(tooLittle)).state).toBe("signed");
	}
	// The sizes of fills vary by a few bytes.
	expect((await runWith(needed + needed / 50n)).state).toBe("broadcast");
});
