import { openTransaction, SwapError } from "@geoswap/protocol";
import { signBytes } from "@solana/kit";
import { bytesToHex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { type SolanaOrderScene, solanaOrderScene } from "../../../../test/order/solana-order-scene.ts";
import { messageMutations } from "../../../../test/solana/message-mutations.ts";
import { checkSignedTransaction } from "./check-signed-transaction.ts";

let scene: SolanaOrderScene;
let message: Uint8Array;
let signature: Uint8Array;
beforeAll(async () => {
	scene = await solanaOrderScene();
	({ message } = await openTransaction(scene.deployment, scene.order, scene.parts));
	signature = new Uint8Array(await signBytes(scene.wallet.keyPair.privateKey, message));
});

const none = new Uint8Array(64);

test("the wallet's signature is accepted, regardless of the content of the fee payer's signature", async () => {
	const filled = new Uint8Array(64).fill(7);
	for (const first of [none, filled, signature]) {
		expect(await check(base64(wire([first, signature])))).toBe(bytesToHex(signature));
	}
});

test("text that is not a transaction is a malformed request", async () => {
	const fine = base64(wire([none, signature]));
	const texts = [
		"",
		"not base64!",
		`${fine}=`,
		` ${fine}`,
		fine.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""),
		fine.slice(0, -1),
		bytesToHex(wire([none, signature])),
		base64(new Uint8Array(1232)),
		base64(new Uint8Array([...wire([none, signature]), ...new Uint8Array(1000)])),
		base64(new Uint8Array(2000)),
		base64(message),
		base64(wire([signature])),
		"A".repeat(30_000),
	];
	for (const text of texts) {
		const error = await refusal(text);
		expect(error.code, text.slice(0, 60)).toBe("INVALID_REQUEST");
		expect(error.details).toMatchObject({ issues: [{ path: "signedTransaction" }] });
	}
});

test("a transaction that differs from the built one is refused with the changed part", async () => {
	const dice = (below: number) => below >> 1;
	const expected: [mutation: string, changed: string][] = [
		["the legacy version", "version"],
		["another fee payer", "fee payer"],
		["another blockhash", "blockhash"],
		["a lookup table", "lookup tables"],
		["an instruction added", "instructions"],
		["another term of the order", "instructions"],
		["another instruction of the program", "instructions"],
		["another amount", "instructions"],
		["another unit price", "instructions"],
		["another account", "accounts"],
		["the wallet in an instruction of the program", "accounts"],
		["bytes added", "bytes"],
	];
	for (const [mutation, changed] of expected) {
		const mutated = messageMutations[mutation]?.(message, dice) ?? message;
		const own = new Uint8Array(await signBytes(scene.wallet.keyPair.privateKey, mutated));
		const error = await refusal(base64(wire([none, own], mutated)));
		expect(error).toMatchObject({ code: "TRANSACTION_CHANGED", details: { changed } });
	}
});

test("a missing signature and another signer's signature are refused with different messages", async () => {
	const { wallet, stranger } = scene;
	const others = new Uint8Array(await signBytes(stranger.keyPair.privateKey, message));
	const expected = { expected: wallet.address };
	for (const [given, words] of [
		[none, "missing"],
		[others, "not the wallet's"],
	] as const) {
		const error = await refusal(base64(wire([signature, given])));
		expect(error).toMatchObject({ code: "INVALID_SIGNATURE", details: expected });
		expect(error.message).toContain(words);
	}
});

function check(signedTransaction: string) {
	const { deployment, order, parts } = scene;
	return checkSignedTransaction({ deployment, order, parts, signedTransaction });
}

async function refusal(signedTransaction: string): Promise<SwapError> {
	const error = await check(signedTransaction).catch((thrown: unknown) => thrown);
	if (!(error instanceof SwapError)) throw new Error(`not refused: ${String(error)}`);
	return error;
}

function wire(signatures: Uint8Array[], of = message): Uint8Array {
	return new Uint8Array([signatures.length, ...signatures.flatMap((one) => [...one]), ...of]);
}

function base64(bytes: Uint8Array): string {
	return Buffer.from(bytes).toString("base64");
}
