import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { deriveSolanaDevnetKeys, solanaKeyVariables } from "@geoswap/devnet";
import { getBase58Decoder } from "@solana/kit";
import { type Hex, hexToBytes } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { leaksIn } from "./find-leaks.ts";
import { processSecrets } from "./known-secrets.ts";
import { createSecretFinder } from "./secret-finder.ts";

const solanaKeys = deriveSolanaDevnetKeys();
const [relayer, treasurer] = [generatePrivateKey(), generatePrivateKey()];
const [attester, receipt] = [generatePrivateKey(), generatePrivateKey()];
const sealKey = randomBytes(32);
const pepper = randomBytes(32).toString("base64url");
const password = randomBytes(18).toString("base64url");
const keys = {
	deployer: relayer,
	guardian: relayer,
	treasury: relayer,
	treasurer,
	relayers: [],
	wallets: [],
	attesters: [attester],
	receipt,
};
const serverEnvironment = {
	GEOSWAP_SEAL_KEYS: `dev:${sealKey.toString("base64url")}`,
	GEOSWAP_API_KEY_PEPPER: pepper,
	GEOSWAP_RELAYER_KEYS: `31337:${relayer}`,
	GEOSWAP_TREASURER_KEYS: `31337:${treasurer}`,
	...solanaKeyVariables(solanaKeys),
	DATABASE_URL: `postgres://geoswap:${password}@127.0.0.1:5432/postgres`,
};
const find = createSecretFinder(processSecrets({ serverEnvironment, keys }));
const kindsIn = (text: string) => [...new Set(find(text).map(({ kind }) => kind))];

/** Returns a log line with this value. */
const logged = (value: unknown) => `${JSON.stringify({ level: 30, process: "api", value, msg: "done" })}\n`;
const bytesOf = (key: Hex) => Buffer.from(hexToBytes(key));

test("each kind of secret is found in a folder of logs, and reported with its line and without its text", () => {
	const folder = mkdtempSync(join(tmpdir(), "geoswap-leaks-"));
	const sealed = `eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..${randomBytes(12).toString("base64url")}.${randomBytes(90).toString("base64url")}.${randomBytes(16).toString("base64url")}`;
	const planted: Record<string, string> = {
		"seal key": sealKey.toString("base64url"),
		pepper,
		"relayer's key": relayer,
		"treasurer's key": treasurer,
		"attester's key": attester,
		"receipt key": receipt,
		"Solana key": getBase58Decoder().decode(solanaKeys.operator),
		"password of DATABASE_URL": password,
		"API key": `geosk_${"0123456789ab"}_${"c".repeat(47)}`,
		"sealed token": sealed,
		"address with a password": "redis://:opensesame@127.0.0.1:6379",
		"private key in PEM": "-----BEGIN EC PRIVATE KEY-----",
	};
	try {
		for (const [kind, secret] of Object.entries(planted)) {
			writeFileSync(join(folder, "api.log"), `${logged("nothing")}${logged({ headers: secret })}`);
			const leaks = leaksIn(folder, find);
			expect(leaks, kind).toEqual([expect.stringContaining(`${kind} (`)]);
			expect(leaks[0]).toContain(`line 2 of ${join(folder, "api.log")}`);
			expect(leaks[0]).not.toContain(secret.slice(0, 20));
		}
	} finally {
		rmSync(folder, { recursive: true });
	}
});

test("a secret is found in every usual encoding of its bytes", () => {
	const bytes = bytesOf(relayer);
	const spellings = {
		"without 0x": relayer.slice(2),
		"upper case": relayer.toUpperCase(),
		"in the middle of hex": `0xdead${relayer.slice(2)}beef`,
		base64: bytes.toString("base64"),
		base64url: bytes.toString("base64url"),
		"in base64 of more, one byte later": Buffer.concat([Buffer.from("a"), bytes]).toString("base64"),
		"in base64 of more, two bytes later": Buffer.concat([Buffer.from("ab"), bytes, bytes]).toString(
			"base64url",
		),
		"base64 of its text": Buffer.from(`{"key":"${relayer}"}`).toString("base64"),
		base58: getBase58Decoder().decode(bytes),
		decimal: BigInt(relayer),
		"a buffer as JSON": bytes,
		"a Uint8Array as JSON": new Uint8Array(bytes),
		"a list": [...bytes],
		"as Node shows it": inspect(bytes),
		"its first half": relayer.slice(0, 34),
		"its second half": relayer.slice(34),
	};
	for (const [how, value] of Object.entries(spellings)) {
		const text = logged(typeof value === "bigint" ? String(value) : value);
		expect(kindsIn(text), how).toEqual(["relayer's key"]);
	}
	for (const value of [Buffer.from(pepper).toString("hex"), Buffer.from(`x${pepper}`).toString("base64")]) {
		expect(kindsIn(logged(value))).toEqual(["pepper"]);
	}
});

test("public values such as addresses, hashes, ids and URLs of services are not reported", () => {
	const lines = [
		privateKeyToAccount(relayer).address,
		randomBytes(32).toString("hex"),
		getBase58Decoder().decode(solanaKeys.operator.subarray(32)),
		{ requestId: "019a8d3e-0000-7000-8000-000000000000", keyId: "0123456789ab" },
		"http://127.0.0.1:8080/swap/status",
		"postgres://geoswap@127.0.0.1:5432/postgres",
		"http://[::1]:9070/services",
	];
	expect(lines.flatMap((line) => find(logged(line)))).toEqual([]);
});
