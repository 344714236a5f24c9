import { beforeEach, expect, test, vi } from "vitest";
import { guardSigner, type SignerCall } from "./guard-signer.ts";
import type { SolanaSigner } from "./signer.ts";
import { type KeyName, SignerError } from "./signer-error.ts";

const name: KeyName = { reference: "remote:relayer-1", backend: "remote" };
const message = new Uint8Array(3);
const signature = new Uint8Array(64);
const address = "11111111111111111111111111111111" as SolanaSigner["address"];

let nowMs = 0;
let calls: SignerCall[] = [];
beforeEach(() => {
	nowMs = 1_000_000;
	calls = [];
});

function guarded(sign: SolanaSigner["sign"], timeoutMs = 5_000) {
	const onCall = (call: SignerCall) => calls.push(call);
	return guardSigner({ kind: "solana", name, address, sign }, { timeoutMs, nowMs: () => nowMs, onCall });
}

const outcomes = () => calls.map(({ outcome }) => outcome);

test("a signer that never answers fails in time, by name, even if it does not watch its signal", async () => {
	const signer = guarded(() => new Promise(() => {}), 20);
	await expect(signer.sign(message)).rejects.toThrow(
		"the key remote:relayer-1 cannot sign: it did not answer within 20 ms",
	);
	expect(outcomes()).toEqual(["timeout"]);
});

test("a signer that watches its signal is told when nobody waits any more", async () => {
	const told = Promise.withResolvers<void>();
	const signer = guarded((_, { signal } = {}) => {
		signal?.addEventListener("abort", () => told.resolve());
		return new Promise(() => {});
	}, 20);
	await expect(signer.sign(message)).rejects.toThrow("did not answer");
	await told.promise;
});

test("a signer that fails is left alone for longer each time, up to five seconds, and asked at once after a success", async () => {
	let isDown = true;
	const sign = vi.fn(async () => {
		if (isDown) throw new Error("connection refused");
		return signature;
	});
	const signer = guarded(sign);
	const pausesMs: number[] = [];
	for (let failure = 0; failure < 7; failure++) {
		await expect(signer.sign(message)).rejects.toThrow("connection refused");
		const failedAtMs = nowMs;
		while (true) {
			const askedBefore = sign.mock.calls.length;
			nowMs += 50;
			isDown = true;
			const error = await signer.sign(message).catch((thrown: unknown) => thrown);
			expect(error).toBeInstanceOf(SignerError);
			expect((error as SignerError).isRetryable).toBe(true);
			if (sign.mock.calls.length > askedBefore) break;
		}
		pausesMs.push(nowMs - failedAtMs);
		// The call that ended the pause was a failure too.
		failure++;
		nowMs += 60_000;
	}
	expect(pausesMs).toEqual([250, 1_000, 4_000, 5_000]);
	isDown = false;
	nowMs += 60_000;
	expect(await signer.sign(message)).toBe(signature);
	expect(await signer.sign(message)).toBe(signature);
	expect(outcomes()).toContain("skipped");
});

test("calls that fail together count as one failure", async () => {
	const signer = guarded(async () => {
		throw new Error("down");
	});
	await Promise.allSettled(Array.from({ length: 20 }, () => signer.sign(message)));
	nowMs += 250;
	await expect(signer.sign(message)).rejects.toThrow("down");
});

test("a payload that the signer refuses does not keep others from being signed", async () => {
	const signer = guarded(async (bytes) => {
		if (bytes.length !== 3) throw new SignerError(name, "its policy forbids it", { isRetryable: false });
		return signature;
	});
	await expect(signer.sign(new Uint8Array(4))).rejects.toThrow("its policy forbids it");
	expect(await signer.sign(message)).toBe(signature);
	expect(outcomes()).toEqual(["refused", "ok"]);
});

test("a payload that the signer defers does not keep others from being signed, and can be offered again", async () => {
	let isAboveCap = true;
	const signer = guarded(async (bytes) => {
		if (bytes.length !== 3 && isAboveCap)
			throw new SignerError(name, "above-cap", { isRetryable: true, isDeferred: true });
		return signature;
	});
	for (let i = 0; i < 3; i++) {
		await expect(signer.sign(new Uint8Array(4))).rejects.toMatchObject({ isDeferred: true });
		expect(await signer.sign(message)).toBe(signature);
	}
	isAboveCap = false;
	expect(await signer.sign(new Uint8Array(4))).toBe(signature);
	expect(outcomes()).toEqual(["deferred", "ok", "deferred", "ok", "deferred", "ok", "ok"]);
});
