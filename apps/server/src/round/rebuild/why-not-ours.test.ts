import { orderId, packDeadlines, solanaNativeToken, toWord, unpackDeadlines } from "@geoswap/protocol";
import { zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
	inward,
	one,
	outward,
	type SolanaDeskScene,
	startSolanaDeskScene,
	two,
	type Way,
	within,
} from "../../../test/desk/solana-desk-scene.ts";
import { whyNotOurs } from "./why-not-ours.ts";

let scene: SolanaDeskScene;
beforeAll(async () => {
	scene = await startSolanaDeskScene();
});
afterAll(() => scene.stop());

function quoted(way: Way) {
	const { desk } = scene;
	return desk.quote(scene.request(way), { feeMillibps: desk.baseFeeMillibps }).order;
}

const between: Way = { from: [one, "USDC"], to: [two, "USDC"] };
const onOne: Way = { from: [one, "USDC"], to: [one, "WETH"] };

test.each([
	["between EVM chains", between],
	["on one EVM chain", onOne],
	["to Solana", outward],
	["from Solana", inward],
	["within Solana", within],
])("every order that the desk quotes counts as the service's: %s", (_, way) => {
	const order = quoted(way);
	expect(whyNotOurs({ orderId: orderId(order), order }, scene.config)).toBeUndefined();
});

test("an order whose release could come too late or go to a third party, or whose top-up is no asset, does not count as the service's", () => {
	const order = quoted(between);
	const { openDeadline, fillDeadline } = unpackDeadlines(order.deadlines);
	const soon = packDeadlines({ openDeadline, fillDeadline, refundAfter: fillDeadline + 1n });
	const stranger = toWord("0x00000000000000000000000000000000000000ff");
	for (const [change, reason] of [
		[{ deadlines: soon }, "its deadlines are not those of a quote"],
		[{ originVault: stranger }, "the origin vault is not the service's"],
	] as const) {
		const changed = { ...order, ...change };
		expect(whyNotOurs({ orderId: orderId(changed), order: changed }, scene.config)).toBe(reason);
	}
	const { chains } = scene.config;
	const withoutNative = {
		...scene.config,
		chains: chains.map((chain) => {
			const natives: string[] = [zeroAddress, solanaNativeToken];
			const assets = chain.deployment.assets.filter(({ address }) => !natives.includes(address));
			return { ...chain, deployment: { ...chain.deployment, assets } } as (typeof chains)[number];
		}),
	};
	for (const quotedOrder of [order, quoted(outward)]) {
		const topped = { ...quotedOrder, topUp: 1n };
		const opened = { orderId: orderId(topped), order: topped };
		expect(whyNotOurs(opened, scene.config)).toBeUndefined();
		expect(whyNotOurs(opened, withoutNative)).toBe("its top-up is not in an asset of the service");
	}
	const from = { ...quoted(inward), escrow: stranger };
	expect(whyNotOurs({ orderId: orderId(from), order: from }, scene.config)).toBe(
		"the escrow is not the service's",
	);
});
