import { attestationTypedData, heartbeatTypedData } from "@geoswap/protocol";
import { hexToBytes, keccak256, parseTransaction, recoverTransactionAddress, toHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { accountOfSigner } from "./account-of-signer.ts";
import { memoryDigestKey } from "./backend/memory-key.ts";
import type { DigestKey } from "./digest-key.ts";
import { evmSignerOf } from "./evm-signer-of.ts";
import { hexOfSignature } from "./hex-of-signature.ts";
import { SignerError } from "./signer-error.ts";

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const secret = generatePrivateKey();
const key = memoryDigestKey({ reference: "env:TEST", backend: "env" }, hexToBytes(secret));
const transaction = {
	type: "eip1559",
	chainId: 31337,
	nonce: 7,
	to: "0x00000000000000000000000000000000deadbeef",
	gas: 21_000n,
	maxFeePerGas: 10n,
	maxPriorityFeePerGas: 1n,
} as const;

const heartbeat = {
	kind: "heartbeat",
	message: { chainId: 31337, finalizedNumber: 12, signedAtUnixSeconds: 1_700_000_000 },
} as const;

test("transactions, attestations and heartbeats are signed as viem signs them, byte for byte", async () => {
	const one = toHex(1n, { size: 32 });
	const last = toHex(curveOrder - 1n, { size: 32 });
	for (const privateKey of [secret, one, last]) {
		const viems = privateKeyToAccount(privateKey);
		const signer = evmSignerOf(memoryDigestKey(key.name, hexToBytes(privateKey)));
		expect(signer.address).toBe(viems.address);
		const authorization = await viems.signAuthorization({ chainId: 1, address: viems.address, nonce: 8 });
		for (let nonce = 0; nonce < 10; nonce++) {
			for (const made of [
				{ ...transaction, nonce },
				{ ...transaction, nonce, type: "eip7702" as const, authorizationList: [authorization] },
			]) {
				const signed = await accountOfSigner(signer).signTransaction(made);
				expect(signed).toBe(await viems.signTransaction(made));
			}
		}
		expect(hexOfSignature(await signer.sign(heartbeat))).toBe(
			await viems.signTypedData(heartbeatTypedData(heartbeat.message)),
		);
		const message = {
			kind: "Release",
			originChainId: 31337,
			escrow: viems.address,
			orderIds: [one, last],
		} as const;
		expect(hexOfSignature(await signer.sign({ kind: "attestation", message }))).toBe(
			await viems.signTypedData(attestationTypedData(message)),
		);
	}
});

test("a device that returns the high s still yields a transaction that chains take", async () => {
	const high: DigestKey = {
		...key,
		signDigest: async (digest, options) => {
			const { r, s } = await key.signDigest(digest, options);
			return { r, s: curveOrder - s };
		},
	};
	const raw = await accountOfSigner(evmSignerOf(high)).signTransaction(transaction);
	expect(BigInt(parseTransaction(raw).s ?? 0)).toBeLessThanOrEqual(curveOrder / 2n);
	expect(await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })).toBe(
		evmSignerOf(key).address,
	);
});

test("a signature by another key, over other bytes, or no signature at all is never returned", async () => {
	const other = memoryDigestKey(key.name, hexToBytes(generatePrivateKey()));
	const answers: DigestKey["signDigest"][] = [
		other.signDigest,
		(_digest, options) => key.signDigest(hexToBytes(keccak256("0x01")), options),
		async () => ({ r: 0n, s: 1n }),
		async () => ({ r: 1n, s: curveOrder }),
		async () => ({ r: 2n ** 260n, s: 1n }),
	];
	for (const signDigest of answers) {
		const signing = evmSignerOf({ ...key, signDigest }).sign(heartbeat);
		await expect(signing).rejects.toThrow(SignerError);
		await expect(signing).rejects.toThrow("env:TEST");
	}
});
