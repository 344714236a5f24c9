import { orderAddress, orderId, prepareOrder } from "@geoswap/protocol";
import { getBase58Decoder } from "@solana/kit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { floodAddresses } from "../../../../test/solana/flood-addresses.ts";
import { laggingSolana } from "../../../../test/solana/lagging-solana.ts";
import { limitedNodes, limitedTransport } from "../../../../test/solana/limited-transport.ts";
import { type SolanaChainScene, solanaChainScene } from "../../../../test/solana/solana-chain-scene.ts";
import { connectSolana, type SolanaChain } from "../connect-solana.ts";
import { readSlots } from "../read/read-slots.ts";
import { signInstructions } from "../send/sign-instructions.ts";
import { signEnding, signSweep } from "./sign-ending.ts";
import { wasOpened } from "./was-opened.ts";

let scene: SolanaChainScene;
beforeAll(async () => {
	scene = await solanaChainScene();
});
afterAll(() => scene?.stop());

async function lastValidHeight(): Promise<number> {
	return (await readSlots(scene.chain)).confirmed.height;
}

/** Returns the chain behind a node that lists these transactions, all failed but the oldest of them, in pages of one. */
function listing(count: number, { isOldestFailed }: { isOldestFailed: boolean }): SolanaChain {
	const signatureOf = (i: number) => getBase58Decoder().decode(new Uint8Array(64).fill(i + 1));
	const all = Array.from({ length: count }, (_, i) => ({
		signature: signatureOf(i),
		err: i === count - 1 && !isOldestFailed ? null : "failed",
		memo: null,
		blockTime: null,
	}));
	return {
		...scene.chain,
		rpc: new Proxy(scene.chain.rpc, {
			get: (rpc, name, receiver) => {
				if (name !== "getSignaturesForAddress") return Reflect.get(rpc, name, receiver);
				return (_: string, { before }: { before?: string }) => {
					const from = all.findIndex(({ signature }) => signature === before) + 1;
					return { send: async () => all.slice(from, from + 1) };
				};
			},
		}),
	};
}

test.for(limitedNodes)(
	"an open order is found by its account behind a flood, if a node %s",
	async ([, limits]) => {
		const [open, never] = [scene.order(), scene.order()];
		await scene.deposit(open);
		const address = await orderAddress(scene.chain.deployment.program.address, orderId(open));
		await floodAddresses(scene.solana, { addresses: [address], count: 4 });
		const { transport } = limitedTransport(scene.solana, limits);
		const chain = connectSolana({ ...scene.solana, transport });
		const height = await lastValidHeight();
		expect(await wasOpened(chain, { orderId: orderId(open), lastValidHeight: height })).toBe("opened");
		expect(await wasOpened(chain, { orderId: orderId(never), lastValidHeight: height })).toBe("never");
	},
);

test("an order that was prepared but never funded was never opened", async () => {
	const order = scene.order();
	const { program } = scene.chain.deployment;
	const prepare = await prepareOrder(program.address, order, scene.feePayer);
	const parts = { ...(await scene.parts()), unitLimit: 100_000 };
	expect(await scene.land(await signInstructions({ ...parts, instructions: [prepare] }))).toMatchObject({
		isFailed: false,
	});
	const sought = { orderId: orderId(order), lastValidHeight: await lastValidHeight() };
	expect(await wasOpened(scene.chain, sought)).toBe("never");
});

test("whether an order was opened is unknown once its account is closed", async () => {
	const order = scene.order();
	await scene.deposit(order);
	const sought = { orderId: orderId(order), lastValidHeight: await lastValidHeight() };
	await scene.solana.admin.passTime({ seconds: 4_001 });
	const refund = { order, to: "wallet", decision: { by: "time" } } as const;
	expect(await scene.land(await signEnding({ ...(await scene.parts()), ...refund }))).toMatchObject({
		isFailed: false,
	});
	expect(await wasOpened(scene.chain, sought)).toBe("opened");
	const accounts = [{ orderId: orderId(order), payer: scene.feePayer.address }];
	expect(await scene.land(await signSweep({ ...(await scene.parts()), accounts }))).toMatchObject({
		isFailed: false,
	});
	expect(await wasOpened(scene.chain, sought)).toBe("untold");
});

test("failed transactions open nothing, and a possible success behind them or behind too many of them is not ruled out", async () => {
	const sought = { orderId: orderId(scene.order()), lastValidHeight: await lastValidHeight() };
	const tell = (count: number, isOldestFailed: boolean) =>
		wasOpened(listing(count, { isOldestFailed }), sought);
	expect(await tell(20, true)).toBe("never");
	expect(await tell(20, false)).toBe("untold");
	expect(await tell(60, true)).toBe("untold");
});

test("a node that has pruned the blocks in which an order could be opened leaves the result unknown", async () => {
	const sought = { orderId: orderId(scene.order()), lastValidHeight: 1 };
	expect(await wasOpened(scene.chain, sought)).toBe("never");
	const { confirmed } = await readSlots(scene.chain);
	expect(await wasOpened(laggingSolana(scene.chain, { first: confirmed.slot }), sought)).toBe("untold");
});
