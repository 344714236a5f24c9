import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hexToBytes } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, expect, test } from "vitest";
import { keySettingsSchema } from "./config/key-settings.ts";
import { decryptKeystore, encryptKeystore } from "./keystore.ts";
import { openSigners } from "./open-signers.ts";

const folder = mkdtempSync(join(tmpdir(), "geoswap-keystore-"));
afterAll(() => rmSync(folder, { recursive: true }));
const passwordFile = join(folder, "password");
writeFileSync(passwordFile, "a password\n");

const cheap = { n: 1024, id: randomUUID(), random: (bytes: number) => new Uint8Array(randomBytes(bytes)) };

test("a wrong password, a changed file and a file of another form are refused, without showing anything of them", async () => {
	const made = await encryptKeystore({
		...cheap,
		secret: new Uint8Array(32).fill(7),
		password: "right",
		address: "x",
	});
	const text = JSON.stringify(made);
	expect((await decryptKeystore(text, "right")).secret).toEqual(new Uint8Array(32).fill(7));
	const changed = text.replace(
		made.crypto.ciphertext,
		made.crypto.ciphertext.replace(/^./, (c) => (c === "0" ? "1" : "0")),
	);
	await expect(decryptKeystore(text, "wrong")).rejects.toThrow("password is wrong");
	await expect(decryptKeystore(changed, "right")).rejects.toThrow(
		"password is wrong, or the file is damaged",
	);
	await expect(decryptKeystore("secret words", "right")).rejects.toThrow(/^the file is not JSON$/);
	await expect(decryptKeystore(text.replace('"scrypt"', '"pbkdf2"'), "right")).rejects.toThrow("crypto.kdf");
	await expect(decryptKeystore(text.replace('"n":1024', '"n":1073741824'), "right")).rejects.toThrow(
		"memory",
	);
});

test("a keystore opens only as the kind of key that it holds, and only with the address that it names", async () => {
	const key = generatePrivateKey();
	const write = async (name: string, secret: Uint8Array, address: string) => {
		const made = await encryptKeystore({ ...cheap, secret, password: "a password", address });
		writeFileSync(join(folder, name), JSON.stringify(made));
		return `keystore:${join(folder, name)}` as const;
	};
	const settings = keySettingsSchema.parse({ keystore: { passwordFile } });
	const signers = openSigners({ settings, secretNames: [], nowMs: Date.now });
	const address = privateKeyToAddress(key);
	const evm = await write("evm.json", hexToBytes(key), address.slice(2).toLowerCase());
	expect((await signers.openEvm(evm)).address).toBe(address);
	await expect(signers.openSolana(evm)).rejects.toThrow("not the keystore of an Ed25519 key");
	const seed = new Uint8Array(randomBytes(32));
	const solanaAddress = signers.solanaOf({ reference: "env:TEST", backend: "env" }, seed).address;
	const solana = await write("solana.json", seed, solanaAddress);
	expect((await signers.openSolana(solana)).address).toBe(solanaAddress);
	await expect(signers.openEvm(solana)).rejects.toThrow("Ed25519 key");
	const other = await write("other.json", hexToBytes(generatePrivateKey()), address.slice(2));
	await expect(signers.openEvm(other)).rejects.toThrow("but its key is that of");
	await expect(signers.openEvm(`keystore:${join(folder, "missing.json")}`)).rejects.toThrow("ENOENT");
});
