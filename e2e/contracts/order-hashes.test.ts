import { startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import { attestationDigest, geoEscrowAbi, type Order, orderId } from "@geoswap/protocol";
import fc from "fast-check";
import { toHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";

const runs = process.env.GEOSWAP_FULL === "1" ? 2_000 : 200;

let chains: TestChains;
let origin: TestChain;
beforeAll(async () => {
	chains = await startTestChains({ automine: true });
	origin = chains.origin;
});
afterAll(() => chains.stop());

const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const word = uint256.map((value) => toHex(value, { size: 32 }));
const anyOrder: fc.Arbitrary<Order> = fc.record({
	wallet: word,
	inputToken: word,
	inputAmount: uint256,
	originChainId: uint256,
	destinationChainId: uint256,
	outputToken: word,
	minOutput: uint256,
	recipient: word,
	topUp: uint256,
	escrow: word,
	originVault: word,
	destinationVault: word,
	attesterSet: word,
	swapKey: word,
	deadlines: uint256,
});

test("the contracts and the protocol package compute the same id for any order", async () => {
	await fc.assert(
		fc.asyncProperty(anyOrder, async (order) => {
			const onChain = await origin.publicClient.readContract({
				address: origin.deployment.contracts.escrow,
				abi: geoEscrowAbi,
				functionName: "orderIdOf",
				args: [order],
			});
			expect(orderId(order)).toBe(onChain);
		}),
		{ numRuns: runs },
	);
});

test("the contracts and the protocol package compute the same digests for any list of orders on either chain", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(word, { maxLength: 20 }),
			fc.constantFrom(chains.origin, chains.destination),
			async (orderIds, chain) => {
				const { escrow } = chain.deployment.contracts;
				const onChain = (functionName: "releaseDigest" | "refundDigest") =>
					chain.publicClient.readContract({
						address: escrow,
						abi: geoEscrowAbi,
						functionName,
						args: [orderIds],
					});
				const message = { originChainId: chain.chainId, escrow, orderIds };
				expect(attestationDigest({ ...message, kind: "Release" })).toBe(await onChain("releaseDigest"));
				expect(attestationDigest({ ...message, kind: "Refund" })).toBe(await onChain("refundDigest"));
			},
		),
		{ numRuns: runs },
	);
});
