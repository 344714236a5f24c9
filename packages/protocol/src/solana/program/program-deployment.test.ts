import { createNoopSigner } from "@solana/kit";
import { type Address, getAddress, numberToHex, toHex } from "viem";
import { expect, test } from "vitest";
import { anyOrder } from "../../../vectors/read-vectors.ts";
import { attesterSetHash } from "../../attester-set.ts";
import { orderId } from "../../order.ts";
import { solanaChainId } from "../../solana-chain-id.ts";
import { compileOrderMessage } from "../compile-order-message.ts";
import { fromSolanaWord, solanaNativeToken, toSolanaWord } from "../solana-address.ts";
import { decideOrders, payOrder } from "./escrow-instructions.ts";
import { openTransaction } from "./open-transaction.ts";
import { maxTransactionBytes, programDeploymentSchema } from "./program-deployment.ts";
import { fillOrder } from "./vault-instructions.ts";

const key = (n: number) => fromSolanaWord(toHex((BigInt(n) << 248n) + 1n, { size: 32 }));
const [program, vault, feePayer, wallet, mint] = [1, 2, 3, 4, 5].map(key) as [
	ReturnType<typeof key>,
	ReturnType<typeof key>,
	ReturnType<typeof key>,
	ReturnType<typeof key>,
	ReturnType<typeof key>,
];
const parts = {
	feePayer,
	blockhash: key(6),
	compute: { unitLimit: 200_000, microLamportsPerUnit: 5_000_000n },
};

function attesters(count: number): Address[] {
	return Array.from({ length: count }, (_, i) => getAddress(numberToHex(i + 1, { size: 20 })));
}

function setOf(threshold: number, count: number) {
	const set = { threshold, attesters: attesters(count) };
	return { ...set, hash: attesterSetHash(set) };
}

function orderWith(token = mint) {
	return {
		...anyOrder(),
		originChainId: BigInt(solanaChainId),
		escrow: toSolanaWord(program),
		originVault: toSolanaWord(vault),
		wallet: toSolanaWord(wallet),
		inputToken: toSolanaWord(token),
		inputAmount: 5n,
	};
}

/** Returns the size of a transaction that releases an order by this set and pays its vault. */
async function decisionBytes(threshold: number, count: number): Promise<number> {
	const order = orderWith();
	const signatures = Array.from({ length: threshold }, () => toHex(1n, { size: 65 }));
	const set = setOf(threshold, count);
	const { unsigned } = compileOrderMessage(parts, [
		await decideOrders(program, "Release", { orderIds: [orderId(order)], set, signatures }),
		await payOrder(program, order, { to: "vault" }),
	]);
	return unsigned.length;
}

test("a deployment names only attesters whose decision about one order fits into a transaction", async () => {
	const deployment = {
		address: program,
		vault,
		upgradeAuthority: null,
		operator: fromSolanaWord(toHex(10n, { size: 32 })),
		deployedAtSlot: 0,
		code: { bytes: 1, sha256: toHex(1n, { size: 32 }) },
	};
	for (let count = 1; count <= 17; count++) {
		for (let threshold = 1; threshold <= count; threshold++) {
			const { success } = programDeploymentSchema.safeParse({
				...deployment,
				attesterSet: setOf(threshold, count),
			});
			const fits = count <= 16 && (await decisionBytes(threshold, count)) <= maxTransactionBytes;
			expect({ threshold, count, success }).toEqual({ threshold, count, success: fits });
		}
	}
});

test("a set of attesters that is too large is refused with its size in bytes", () => {
	const refused = programDeploymentSchema.shape.attesterSet.safeParse(setOf(16, 16));
	expect(refused.error?.issues[0]?.message).toMatch(/16 of 16 attesters takes 17\d\d bytes/);
});

test("opening an order and filling one fit into a transaction, with a token and with SOL", async () => {
	const assets = [mint, solanaNativeToken].map((address) => ({ address, decimals: 6 })) as never;
	for (const token of [mint, solanaNativeToken]) {
		const { unsigned } = await openTransaction({ assets }, orderWith(token), parts);
		expect(unsigned.length).toBeLessThanOrEqual(900);
		const order = {
			...anyOrder(),
			destinationChainId: BigInt(solanaChainId),
			destinationVault: toSolanaWord(vault),
			outputToken: toSolanaWord(token),
			recipient: toSolanaWord(wallet),
			inputAmount: 2n ** 100n,
			minOutput: 1n,
			topUp: 1n,
		};
		const operator = createNoopSigner(key(7));
		const filling = compileOrderMessage(parts, [await fillOrder(program, order, { operator, amount: 5n })]);
		expect(filling.unsigned.length).toBeLessThanOrEqual(900);
	}
	await expect(openTransaction({ assets }, orderWith(key(9)), parts)).rejects.toThrow(RangeError);
});
