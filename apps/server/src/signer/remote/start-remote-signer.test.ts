import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeSolana } from "@geoswap/devnet";
import { hexOfSignature } from "@geoswap/keys/hex-of-signature";
import { SignerError } from "@geoswap/keys/signer-error";
import { trySigner } from "@geoswap/keys/try-signer";
import { attestationDigest, type Deployment, toSolanaWord } from "@geoswap/protocol";
import { makeCertificates } from "@geoswap/signer/certificates/make-certificates";
import { revokeCertificate } from "@geoswap/signer/certificates/revoke-certificate";
import { hexToBytes, recoverAddress, toHex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { solanaOrderScene } from "../../../test/order/solana-order-scene.ts";
import { startTestSigner, type TestSigner } from "../../../test/signer/start-test-signer.ts";
import { signersCheckCommand } from "../../operate/signers/signers-check-command.ts";

const secret = generatePrivateKey();
const { program } = describeSolana({ genesisHash: "1".repeat(32) });
if (!program) throw new Error("the devnet has the program");
let signer: TestSigner;
let isBroken = false;
const elsewhere = mkdtempSync(join(tmpdir(), "geoswap-other-authority-"));
beforeAll(async () => {
	const { deployment: solana } = await solanaOrderScene();
	const deployment: Deployment = { chains: [], solana: { ...solana, program } };
	signer = await startTestSigner({
		deployment,
		secrets: { ATTESTER: hexToBytes(secret) },
		isBroken: () => isBroken,
		config: {
			keys: {
				attester: {
					use: "attester",
					reference: "env:ATTESTER",
					clients: ["attester"],
					signaturesPerHour: 200,
				},
			},
		},
	});
});
afterAll(async () => {
	await signer?.stop();
	rmSync(elsewhere, { recursive: true });
});

const key = { name: { reference: "remote:attester", backend: "remote" }, rest: "attester" } as const;
const heartbeat = (finalizedNumber = 1) => ({
	kind: "heartbeat" as const,
	message: { chainId: 792703809, finalizedNumber, signedAtUnixSeconds: Math.floor(Date.now() / 1_000) },
});

test("a client with the right certificate learns the key's address, and gets signatures of it", async () => {
	const evm = await signer.backendOf("attester").openEvm(key);
	expect(evm.address).toBe(privateKeyToAddress(secret));
	expect(await evm.sign(heartbeat())).toMatchObject({ r: expect.stringMatching(/^0x/) });
	expect(await signer.clientOf("attester").get("/health")).toEqual({ status: 200, body: { ok: true } });
});

test("an attester's key signs for the escrow of the Solana program, and for no other program", async () => {
	const evm = await signer.backendOf("attester").openEvm(key);
	const orderIds = [toHex(1n, { size: 32 })];
	const messageFor = (address: typeof program.address) =>
		({ kind: "Release", originChainId: 792703809, escrow: toSolanaWord(address), orderIds }) as const;
	const message = messageFor(program.address);
	const signature = hexOfSignature(await evm.sign({ kind: "attestation", message }));
	expect(await recoverAddress({ hash: attestationDigest(message), signature })).toBe(evm.address);
	const foreign = evm.sign({ kind: "attestation", message: messageFor(program.vault) });
	await expect(foreign).rejects.toThrow("not our escrow");
});

test("a certificate for another client opens no key, and the refusal is no fault of the payload", async () => {
	const client = signer.clientOf("worker");
	expect(await client.get("/keys")).toEqual({ status: 200, body: [] });
	expect(await client.post("/sign/attester", heartbeat())).toMatchObject({ status: 401 });
	await expect(signer.backendOf("worker").openEvm(key)).rejects.toMatchObject({ isRetryable: true });
	expect(signer.lines).toContainEqual(
		expect.objectContaining({ client: "worker", reason: "not-allowed", msg: "refused" }),
	);
});

test("without a certificate, with an expired one, with one of another authority, or below TLS 1.3 there is no answer", async () => {
	const { folder } = signer;
	await makeCertificates({ folder: elsewhere, servers: [], clients: ["attester"], days: 1 });
	const read = (path: string) => readFileSync(path, "utf8");
	const own = { cert: read(join(folder, "attester.pem")), key: read(join(folder, "attester-key.pem")) };
	const foreign = {
		cert: read(join(elsewhere, "attester.pem")),
		key: read(join(elsewhere, "attester-key.pem")),
	};
	expect(await answered(own)).toBe(200);
	expect(await answered({})).toBeUndefined();
	expect(await answered(foreign)).toBeUndefined();
	expect(await answered({ ...own, maxVersion: "TLSv1.2" })).toBeUndefined();
	expect(await answered(expiredCertificate(folder))).toBeUndefined();
});

test("a payload that is too large or of no known form is refused, and the signer goes on", async () => {
	const client = signer.clientOf("attester");
	const huge = { kind: "transaction", unsigned: `0x${"00".repeat(600_000)}` };
	const sent = await client.post("/sign/attester", huge).catch(() => ({ status: 413 }));
	expect(sent.status).toBe(413);
	for (const payload of [null, {}, { kind: "digest", digest: "0x00" }, { ...heartbeat(), more: 1 }]) {
		expect(await client.post("/sign/attester", payload)).toMatchObject({ status: 400 });
	}
	expect(await client.post("/sign/attester", { kind: "transaction", unsigned: "0x02" })).toMatchObject({
		status: 403,
		body: { reason: "wrong-kind" },
	});
	expect(await client.post("/sign/attester", heartbeat(2))).toMatchObject({ status: 200 });
});

test("a client tells a refusal, which is final, from a signer that is gone, which it asks again", async () => {
	const evm = await signer.backendOf("attester").openEvm(key);
	const old = { ...heartbeat(), message: { ...heartbeat().message, signedAtUnixSeconds: 1 } };
	await expect(evm.sign(old)).rejects.toMatchObject({ isRetryable: false });
	await expect(evm.sign(old)).rejects.toThrow(SignerError);
	const gone = signer.clientOf("attester", { url: "https://127.0.0.1:1", timeoutMs: 2_000 });
	await expect(gone.get("/keys")).rejects.toThrow("ECONNREFUSED");
});

const wereUsed = "the certificates were read again";
const wereRefused = "the certificates could not be read again; the old ones stay in use";
/** Changes files of the signer, and waits until it has logged this outcome. */
async function expectNoticed(outcome: string, change: () => unknown): Promise<void> {
	const logged = () =>
		signer.lines.flatMap(({ msg }) => (msg === wereUsed || msg === wereRefused ? [msg] : []));
	const before = logged().length;
	await change();
	await expect.poll(() => logged().slice(before).at(-1)).toBe(outcome);
}

test("a revoked certificate is shut out once the list has it, on a new connection and on one that was open", async () => {
	const { folder } = signer;
	const revoke = (name: string) =>
		revokeCertificate({ folder, certificateFile: join(folder, `${name}.pem`) });
	await revoke("other");
	const path = join(folder, "signer.json");
	const file = JSON.parse(readFileSync(path, "utf8"));
	writeFileSync(path, JSON.stringify({ ...file, tls: { ...file.tls, crlFile: "crl.pem" } }));
	await signer.restart();
	const [worker, attester] = [signer.clientOf("worker"), signer.clientOf("attester")];
	expect((await worker.get("/health")).status).toBe(200);
	await expect(signer.clientOf("other").get("/health")).rejects.toThrow();
	await expectNoticed(wereUsed, () => revoke("worker"));
	await expect(worker.get("/health")).rejects.toThrow();
	await expect(signer.clientOf("worker").get("/health")).rejects.toThrow();
	await expect(signer.clientOf("other").get("/health")).rejects.toThrow();
	expect((await attester.get("/health")).status).toBe(200);
	// A list that cannot be read changes nothing.
	await expectNoticed(wereRefused, () => writeFileSync(join(folder, "crl.pem"), "not a list"));
	await expect(signer.clientOf("worker").get("/health")).rejects.toThrow();
	expect((await attester.get("/health")).status).toBe(200);
	writeFileSync(path, JSON.stringify(file));
	await signer.restart();
});

test("a check shows whether the key signs, returns no signature, and counts", async () => {
	const evm = await signer.backendOf("attester").openEvm(key);
	await trySigner(evm);
	expect(await signer.clientOf("attester").post("/check/attester", {})).toEqual({
		status: 200,
		body: { ok: true },
	});
	isBroken = true;
	await expect(trySigner(evm)).rejects.toThrow("the key's backend did not sign");
	const folder = mkdtempSync(join(tmpdir(), "geoswap-signers-check-"));
	try {
		const config = join(folder, "attester.json");
		const files = { caFile: "ca.pem", certificateFile: "attester.pem", keyFile: "attester-key.pem" };
		const own = Object.entries(files).map(([name, path]) => [name, join(signer.folder, path)]);
		const remote = { url: signer.url, ...Object.fromEntries(own) };
		const keys = { attester: "remote:attester", remote };
		const deployment = join(signer.folder, "deployment.json");
		writeFileSync(config, JSON.stringify({ deployment, chains: {}, port: 0, keys }));
		const printed = vi.spyOn(console, "log").mockImplementation(() => {});
		onTestFinished(() => printed.mockRestore());
		const check = () => signersCheckCommand({ config, for: "attester", times: "3", json: true });
		expect(await check()).toBe(1);
		expect(printed.mock.lastCall?.[0]).toContain("backend did not sign");
		isBroken = false;
		expect(await check()).toBe(0);
		expect(JSON.parse(String(printed.mock.lastCall?.[0]))).toEqual([
			expect.objectContaining({ use: "attester", milliseconds: expect.any(Number), backend: "remote" }),
		]);
	} finally {
		rmSync(folder, { recursive: true });
	}
	expect(await signer.clientOf("worker").post("/check/attester", {})).toMatchObject({ status: 401 });
	expect(signer.lines.filter(({ msg }) => msg === "checked")).toHaveLength(5);
});

test("a restart keeps the count of signatures, and the same payload has the same signature after it", async () => {
	const payload = heartbeat(3);
	const before = await signer.clientOf("attester").post("/sign/attester", payload);
	await signer.restart();
	expect(await signer.clientOf("attester").post("/sign/attester", payload)).toEqual(before);
	const client = signer.clientOf("attester");
	let signed = 0;
	let last = { status: 200, body: {} as unknown };
	for (let i = 0; i < 250 && last.status === 200; i++) {
		if (i === 100) await signer.restart();
		const asked = i < 100 ? client : signer.clientOf("attester");
		last = await asked.post("/sign/attester", heartbeat(1_000 + i));
		if (last.status === 200) signed++;
	}
	expect(last).toMatchObject({ status: 429, body: { reason: "key-above-cap" } });
	expect(signed).toBeLessThan(200);
});

test("new certificates are used as soon as all of them are there, and a client of the old authority is shut out", async () => {
	const { folder } = signer;
	const client = signer.clientOf("attester");
	expect((await client.get("/health")).status).toBe(200);
	await expectNoticed(wereRefused, () => {
		for (const file of ["ca", "ca-key", "server", "server-key", "attester", "attester-key"]) {
			renameSync(join(folder, `${file}.pem`), join(folder, `old-${file}.pem`));
		}
		writeFileSync(join(folder, "ca.pem"), "not a certificate");
	});
	expect((await client.get("/health")).status).toBe(200);
	rmSync(join(folder, "ca.pem"));
	await expectNoticed(wereUsed, () =>
		makeCertificates({ folder, servers: ["127.0.0.1"], clients: ["attester"], days: 1 }),
	);
	// The client reads its files again, since its old connection is gone.
	expect((await client.get("/health")).status).toBe(200);
	copyFileSync(join(folder, "old-attester.pem"), join(folder, "stale.pem"));
	copyFileSync(join(folder, "old-attester-key.pem"), join(folder, "stale-key.pem"));
	await expect(signer.clientOf("stale").get("/health")).rejects.toThrow();
});

test("the log has each decision and no part of a key", () => {
	const text = JSON.stringify(signer.lines);
	expect(text).toContain('"msg":"signed"');
	expect(text.toLowerCase()).not.toContain(secret.slice(2, 34));
	const bytes = Buffer.from(hexToBytes(secret));
	for (const form of [bytes.toString("base64"), bytes.toString("base64url")])
		expect(text).not.toContain(form.slice(0, 30));
});

/** Returns the status of the response to a client with these options; undefined if there is none. */
function answered(options: {
	cert?: string;
	key?: string;
	maxVersion?: "TLSv1.2";
}): Promise<number | undefined> {
	const ca = readFileSync(join(signer.folder, "ca.pem"), "utf8");
	return new Promise((resolve) => {
		const sent = request(`${signer.url}/health`, { ca, agent: false, ...options }, (response) => {
			response.resume();
			resolve(response.statusCode);
		});
		sent.on("error", () => resolve(undefined));
		sent.end();
	});
}

/** Makes a certificate of the right authority that expired in the past. */
function expiredCertificate(folder: string): { cert: string; key: string } {
	const asked = join(elsewhere, "expired-request.pem");
	const cert = join(elsewhere, "expired.pem");
	const key = join(folder, "attester-key.pem");
	execFileSync("openssl", ["req", "-new", "-key", key, "-out", asked, "-subj", "/CN=attester"]);
	const authority = ["-CA", join(folder, "ca.pem"), "-CAkey", join(folder, "ca-key.pem")];
	execFileSync("openssl", ["x509", "-req", "-in", asked, "-out", cert, "-days", "-1", ...authority], {
		stdio: "pipe",
	});
	return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
}
