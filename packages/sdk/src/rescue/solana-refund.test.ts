import { fromSolanaWord, type SolanaAddress, solanaNativeToken } from "@geoswap/protocol";
import { getBase64Decoder } from "@solana/kit";
import { toHex } from "viem";
import { expect, test } from "vitest";
import { signer } from "../../test/solana-op-fixture.ts";
import type { SolanaOrder } from "./find-solana-orders.ts";
import { RefundRefused, sendSolanaRefund } from "./solana-refund.ts";

const address = fromSolanaWord(toHex(7n, { size: 32 }));

/** Returns a node that has the program only, with this authority or none. */
function nodeWith(upgradeAuthority: number) {
	const data = Uint8Array.of(3, 0, 0, 0, ...new Uint8Array(8), upgradeAuthority, ...new Uint8Array(32), 1);
	const account = { data: [getBase64Decoder().decode(data), "base64"] };
	const asked: string[] = [];
	const answer = (method: string, value: unknown) => () => ({
		send: async () => {
			asked.push(method);
			if (value === undefined) throw new Error("the node does not answer");
			return { value };
		},
	});
	return {
		asked,
		rpc: {
			getAccountInfo: answer("getAccountInfo", account),
			getLatestBlockhash: answer("getLatestBlockhash", undefined),
		} as never,
	};
}

function refundOf(token: SolanaAddress) {
	const order = { wallet: signer.address, token, orderId: toHex(1n, { size: 32 }), place: "escrow" };
	return { order: order as SolanaOrder, lamports: 5_000n, createsAccount: false, missingLamports: 0n };
}

test("a wallet does not sign a refund of its own SOL while the program can be replaced", async () => {
	const [replaceable, final] = [nodeWith(1), nodeWith(0)];
	const sending = { program: { address }, payer: signer, refund: refundOf(solanaNativeToken) };
	await expect(sendSolanaRefund(replaceable.rpc, sending)).rejects.toThrow(RefundRefused);
	expect(replaceable.asked).toEqual(["getAccountInfo"]);
	await expect(sendSolanaRefund(final.rpc, sending)).rejects.toThrow("does not answer");
	expect(final.asked).toEqual(["getAccountInfo", "getLatestBlockhash"]);
	// The refund of a token names the wallet in no instruction of the program.
	const token = nodeWith(1);
	const ofToken = { ...sending, refund: refundOf(fromSolanaWord(toHex(8n, { size: 32 }))) };
	await expect(sendSolanaRefund(token.rpc, ofToken)).rejects.toThrow("does not answer");
	expect(token.asked).toEqual(["getLatestBlockhash"]);
});
