import { createHash, KeyObject, sign, verify, type webcrypto } from "node:crypto";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { curve as serversCurve } from "@geoswap/keys/signature/recover-address";
import { type Hex, hexToBytes } from "viem";
import type { Scheduler } from "./scheduler.ts";

type Subtle = webcrypto.SubtleCrypto;

let holder: Pick<Scheduler, "during"> | undefined;
let isHeld = false;

/**
 * Makes WebCrypto deterministic, which otherwise answers from other threads at unpredictable times. In a simulated
 * world, signatures and hashes are computed immediately. The clock waits for all other calls, one after the other.
 */
export function holdCrypto(scheduler: Pick<Scheduler, "during">): void {
	holder = scheduler;
	if (isHeld) return;
	isHeld = true;
	const { subtle } = globalThis.crypto;
	const real = {
		sign: subtle.sign.bind(subtle),
		verify: subtle.verify.bind(subtle),
		digest: subtle.digest.bind(subtle),
		importKey: subtle.importKey.bind(subtle) as (...args: unknown[]) => Promise<unknown>,
		exportKey: subtle.exportKey.bind(subtle) as (...args: unknown[]) => Promise<unknown>,
		generateKey: subtle.generateKey.bind(subtle) as (...args: unknown[]) => Promise<unknown>,
	};
	let last: Promise<unknown> = Promise.resolve();
	const inTurn =
		(run: (...args: unknown[]) => Promise<unknown>) =>
		(...args: unknown[]) => {
			const turn = last.then(() => run(...args));
			last = turn.catch(() => {});
			return holder ? holder.during(turn) : turn;
		};
	Object.assign(subtle, {
		sign: async (algorithm: unknown, key: webcrypto.CryptoKey, data: Uint8Array) => {
			if (nameOf(algorithm) !== "Ed25519") return real.sign(algorithm as "Ed25519", key, data);
			return bytesOf(sign(null, data, KeyObject.from(key)));
		},
		verify: async (algorithm: unknown, key: webcrypto.CryptoKey, signature: Uint8Array, data: Uint8Array) => {
			if (nameOf(algorithm) !== "Ed25519") return real.verify(algorithm as "Ed25519", key, signature, data);
			return verify(null, data, KeyObject.from(key), signature);
		},
		digest: async (algorithm: unknown, data: Uint8Array) =>
			bytesOf(
				createHash(nameOf(algorithm).replace("-", "").toLowerCase())
					.update(ArrayBuffer.isView(data) ? data : new Uint8Array(data))
					.digest(),
			),
		importKey: inTurn(real.importKey),
		exportKey: inTurn(real.exportKey),
		generateKey: inTurn(real.generateKey),
	} as unknown as Partial<Subtle>);
}

function nameOf(algorithm: unknown): string {
	return typeof algorithm === "string" ? algorithm : (algorithm as { name: string }).name;
}

function bytesOf(buffer: Buffer): ArrayBuffer {
	return new Uint8Array(buffer).buffer;
}

type Curve = {
	getPublicKey: (privateKey: string, isCompressed: boolean) => Uint8Array;
	sign: (hash: string, privateKey: string, options: object) => EcdsaSignature;
	ProjectivePoint: { fromHex: (hex: string) => object };
	Signature: {
		new (r: bigint, s: bigint): { addRecoveryBit: (bit: number) => EcdsaSignature };
		prototype: { recoverPublicKey: (hash: string) => object };
	};
};
type EcdsaSignature = { r: bigint; s: bigint; recovery: number };

/** Public keys of the signers, by hash and signature. */
const signers = new Map<string, string>();
/** Hashes of which real signatures are made, without their prefix. */
const signedForReal = new Set<string>();
let areSignersKnown = false;

/**
 * Skips the slowest computation of a world. Every signer that is recovered has signed here, and can be looked up. So a
 * signature only has the right form, and is the same each time for one key and one hash. A signature that was not made
 * here is recovered as usual.
 */
export async function rememberSigners(): Promise<void> {
	signers.clear();
	signedForReal.clear();
	if (areSignersKnown) return;
	areSignersKnown = true;
	const requireOfViem = createRequire(createRequire(import.meta.url).resolve("viem"));
	const common = requireOfViem.resolve("@noble/curves/secp256k1");
	// viem loads the ES module, and code that needs it synchronously the CommonJS one.
	const { secp256k1: other } = requireOfViem(common) as { secp256k1: Curve };
	const { secp256k1: own } = (await import(new URL("./esm/secp256k1.js", pathToFileURL(common)).href)) as {
		secp256k1: Curve;
	};
	for (const curve of [own, other]) remember(curve);
	const { recover } = serversCurve;
	serversCurve.recover = (hash, { rs, yParity }) => {
		const [r, s] = [BigInt(rs.slice(0, 66)), BigInt(`0x${rs.slice(66)}`)];
		const publicKey = signers.get(keyOf(hash.slice(2), { r, s, recovery: yParity }));
		return publicKey === undefined ? recover(hash, { rs, yParity }) : hexToBytes(`0x${publicKey}`);
	};
}

/**
 * Makes signatures of this hash real, because the program on Solana recovers signers by itself and cannot look them up
 * here.
 */
export function signForReal(hash: Hex): void {
	signedForReal.add(hash.slice(2));
}

function keyOf(hash: string, { r, s, recovery }: EcdsaSignature): string {
	return `${hash}:${r}:${s}:${recovery}`;
}

function remember(curve: Curve): void {
	const publicKeys = new Map<string, string>();
	const points = new Map<string, object>();
	const { Signature, sign: signReally } = curve;
	const { recoverPublicKey } = Signature.prototype;
	curve.sign = (hash, privateKey, options) => {
		const signature = signedForReal.has(hash)
			? signReally(hash, privateKey, options)
			: new curve.Signature(...standIn(hash, privateKey)).addRecoveryBit(0);
		let publicKey = publicKeys.get(privateKey);
		if (publicKey === undefined) {
			publicKey = Buffer.from(curve.getPublicKey(privateKey, false)).toString("hex");
			publicKeys.set(privateKey, publicKey);
		}
		signers.set(keyOf(hash, signature), publicKey);
		return signature;
	};
	Signature.prototype.recoverPublicKey = function recover(this: EcdsaSignature, hash) {
		const publicKey = signers.get(keyOf(hash, this));
		if (publicKey === undefined) return recoverPublicKey.call(this as never, hash);
		const point = points.get(publicKey) ?? curve.ProjectivePoint.fromHex(publicKey);
		points.set(publicKey, point);
		return point;
	};
}

/** Returns values below half of the curve's order, as contracts require. */
function standIn(hash: string, privateKey: string): [r: bigint, s: bigint] {
	const [r, s] = ["r", "s"].map((part) => {
		const digest = createHash("sha256").update(`${part} ${privateKey} ${hash}`).digest("hex");
		return BigInt(`0x1${digest.slice(2)}`);
	});
	return [r as bigint, s as bigint];
}
