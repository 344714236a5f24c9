import { execFile } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeSoftHsm, type SoftHsm } from "@geoswap/devnet";
import { createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit";
import { hexToBytes } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { keySettingsSchema } from "../../config/key-settings.ts";
import { openSigners } from "../../open-signers.ts";

let folder: string;
let hsm: SoftHsm;
const relayer = generatePrivateKey();
const vault = new Uint8Array(randomBytes(32));
beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), "geoswap-hsm-"));
	hsm = await makeSoftHsm(folder);
	await hsm.generate("made-inside", "secp256k1");
	await hsm.generate("made-inside-too", "ed25519");
	await hsm.bring("relayer", { curve: "secp256k1", secret: hexToBytes(relayer) });
	await hsm.bring("vault", { curve: "ed25519", secret: vault });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function open(settings: object = {}, environment: NodeJS.ProcessEnv = hsm.environment) {
	const pkcs11 = { module: hsm.module, pinFile: hsm.pinFile, ...settings };
	const signers = openSigners({
		settings: keySettingsSchema.parse({ pkcs11, timeoutMs: 20_000 }),
		environment: { PATH: process.env.PATH, ...environment },
		secretNames: ["GEOSWAP_API_KEY_PEPPER", "WORKER_DATABASE_URL"],
		nowMs: Date.now,
	});
	onTestFinished(() => signers.close());
	return signers;
}

const heartbeat = {
	kind: "heartbeat",
	message: { chainId: 31337, finalizedNumber: 12, signedAtUnixSeconds: 1_700_000_000 },
} as const;

test("keys in a security module sign for EVM chains and for Solana", async () => {
	const signers = open();
	const evm = await signers.openEvm(hsm.reference("relayer"));
	expect(evm.address).toBe(privateKeyToAddress(relayer));
	// A signer returns only signatures that it has verified.
	await Promise.all(Array.from({ length: 20 }, () => evm.sign(heartbeat)));
	const solana = await signers.openSolana(hsm.reference("vault"));
	expect(solana.address).toBe((await createKeyPairSignerFromPrivateKeyBytes(vault)).address);
	await solana.sign(new Uint8Array(randomBytes(1_100)));
	await (await signers.openEvm(hsm.reference("made-inside"))).sign(heartbeat);
	await (await signers.openSolana(hsm.reference("made-inside-too"))).sign(new Uint8Array(7));
});

test("a key or token that does not exist, or a key of another curve, is named", async () => {
	const signers = open();
	await expect(signers.openEvm(hsm.reference("nobody"))).rejects.toThrow("has no private key named nobody");
	await expect(signers.openEvm(hsm.reference("vault"))).rejects.toThrow("not one of secp256k1");
	await expect(signers.openSolana(hsm.reference("relayer"))).rejects.toThrow("not one of ed25519");
	await expect(signers.openEvm("pkcs11:token=other;object=relayer")).rejects.toThrow(
		"the device has no token other, only: geoswap",
	);
	await expect(signers.openEvm("pkcs11:token=geoswap;object=relayer?pin-value=1234")).rejects.toThrow(
		/^(?!.*1234).*must not contain the PIN/,
	);
	await expect(open({ module: "/nowhere.so" }).openEvm(hsm.reference("relayer"))).rejects.toThrow(
		"nowhere.so",
	);
});

test("a wrong PIN is tried once, so that the token is not locked", async () => {
	const pinFile = join(folder, "wrong-pin");
	writeFileSync(pinFile, "000000");
	const signers = open({ pinFile });
	for (let attempt = 0; attempt < 20; attempt++) {
		await expect(signers.openEvm(hsm.reference("relayer"))).rejects.toThrow(
			"does not contain the token's PIN",
		);
	}
	await open().openEvm(hsm.reference("relayer"));
});

test("a device that hangs delays only its own signatures, and is used again once it answers", async () => {
	const signers = open();
	const signer = await signers.openEvm(hsm.reference("relayer"));
	const [child] = childrenOf(process.pid);
	if (child === undefined) throw new Error("the library has no process of its own");
	process.kill(child, "SIGSTOP");
	const signing = signer.sign(heartbeat, { signal: AbortSignal.timeout(300) });
	const startMs = performance.now();
	await new Promise((resolve) => setImmediate(resolve));
	expect(performance.now() - startMs).toBeLessThan(300);
	await expect(signing).rejects.toThrow();
	await expect.poll(() => isRunning(child)).toBe(false);
	await expect
		.poll(() =>
			signer.sign(heartbeat).then(
				() => true,
				() => false,
			),
		)
		.toBe(true);
});

test("a library that crashes takes nothing with it, and the next signature starts it again", async () => {
	const signer = await open().openEvm(hsm.reference("relayer"));
	const [child] = childrenOf(process.pid);
	if (child === undefined) throw new Error("the library has no process of its own");
	const signing = signer.sign(heartbeat).catch((error: unknown) => error);
	process.kill(child, "SIGKILL");
	await signing;
	await expect
		.poll(() =>
			signer.sign(heartbeat).then(
				() => true,
				() => false,
			),
		)
		.toBe(true);
});

test("a command waits for the device's answer, and ends although the library's process still runs", async () => {
	const module = join(import.meta.dirname, "pkcs11-token.ts");
	const path = { module: hsm.module, token: "geoswap", pinFile: hsm.pinFile };
	const code = `
		const { openPkcs11Token } = await import(${JSON.stringify(module)});
		const token = openPkcs11Token(${JSON.stringify(path)}, { environment: process.env, secretNames: [] });
		const name = { reference: "pkcs11:x", backend: "pkcs11" };
		console.log((await token.ask(name, { label: "relayer", curve: "secp256k1" }, {})).length);`;
	const env = { PATH: process.env.PATH, ...hsm.environment };
	const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code], {
		env,
	});
	expect(stdout.trim()).toBe("65");
});

test("the process with the library gets none of the service's secrets", async () => {
	const canary = generateKeyPairSync("ed25519")
		.publicKey.export({ type: "spki", format: "der" })
		.toString("hex");
	const signers = open(
		{},
		{ ...hsm.environment, GEOSWAP_API_KEY_PEPPER: canary, WORKER_DATABASE_URL: canary },
	);
	await signers.openEvm(hsm.reference("relayer"));
	const [child] = childrenOf(process.pid);
	expect(readFileSync(`/proc/${child}/environ`, "utf8")).toContain("SOFTHSM2_CONF");
	expect(readFileSync(`/proc/${child}/environ`, "utf8")).not.toContain(canary);
});

/** Returns the processes that this one started for a library. */
function childrenOf(pid: number): number[] {
	return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
		.split(" ")
		.filter((child) => child !== "")
		.map(Number)
		.filter((child) => readFileSync(`/proc/${child}/cmdline`, "utf8").includes("pkcs11-process"));
}

function isRunning(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
	} catch {
		return false;
	}
}
