import { execFile } from "node:child_process";
import { createPrivateKey, type KeyObject } from "node:crypto";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { bytesToHex, hexToBytes } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const run = promisify(execFile);
const modules = ["/usr/lib/softhsm/libsofthsm2.so", "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so"];
const token = "geoswap";
const pin = "271828";
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

type Curve = "secp256k1" | "ed25519";

/** A token of SoftHSM, a security module made of files, with the interface of real ones. */
export type SoftHsm = {
	module: string;
	pinFile: string;
	/** Variables that the module needs. */
	environment: { SOFTHSM2_CONF: string };
	reference: (label: string) => `pkcs11:${string}`;
	/** Makes a key inside the token, which never leaves it. */
	generate: (label: string, curve: Curve) => Promise<void>;
	/** Imports a key into the token, from which it cannot be read again. */
	bring: (label: string, key: { curve: Curve; secret: Uint8Array }) => Promise<void>;
};

/** Makes a token in an empty folder, with Debian's `softhsm2` and `opensc`. */
export async function makeSoftHsm(folder: string): Promise<SoftHsm> {
	const module = modules.find((path) => existsSync(path));
	if (!module) throw new Error("SoftHSM is missing; run apt install softhsm2 opensc");
	const tokens = join(folder, "tokens");
	mkdirSync(tokens, { recursive: true });
	const environment = { SOFTHSM2_CONF: join(folder, "softhsm2.conf") };
	writeFileSync(environment.SOFTHSM2_CONF, `directories.tokendir = ${tokens}\nlog.level = ERROR\n`);
	const pinFile = join(folder, "pin");
	writeFileSync(pinFile, `${pin}\n`, { mode: 0o600 });
	const env = { ...process.env, ...environment };
	await run("softhsm2-util", ["--init-token", "--free", "--label", token, "--pin", pin, "--so-pin", pin], {
		env,
	});
	let lastId = 0;
	const nextId = () => (++lastId).toString(16).padStart(2, "0");
	return {
		module,
		pinFile,
		environment,
		reference: (label) => `pkcs11:token=${token};object=${label}`,
		generate: async (label, curve) => {
			const kind = curve === "secp256k1" ? "EC:secp256k1" : "EC:edwards25519";
			const login = ["--module", module, "--token-label", token, "--pin", pin];
			const key = ["--keypairgen", "--key-type", kind, "--label", label, "--id", nextId()];
			await run("pkcs11-tool", [...login, ...key], { env });
		},
		bring: async (label, { curve, secret }) => {
			const file = join(folder, `${label}.pem`);
			const key = curve === "secp256k1" ? secp256k1Key(secret) : ed25519Key(secret);
			writeFileSync(file, key.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
			try {
				const place = ["--token", token, "--pin", pin, "--label", label, "--id", nextId()];
				await run("softhsm2-util", ["--import", file, ...place], { env });
			} finally {
				rmSync(file);
			}
		},
	};
}

function secp256k1Key(secret: Uint8Array): KeyObject {
	const point = hexToBytes(privateKeyToAccount(bytesToHex(secret)).publicKey);
	const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
	const [x, y, d] = [text(point.subarray(1, 33)), text(point.subarray(33)), text(secret)];
	return createPrivateKey({ key: { kty: "EC", crv: "secp256k1", x, y, d }, format: "jwk" });
}

function ed25519Key(secret: Uint8Array): KeyObject {
	return createPrivateKey({ key: Buffer.concat([pkcs8Prefix, secret]), format: "der", type: "pkcs8" });
}
