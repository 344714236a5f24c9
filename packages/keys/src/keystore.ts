import { createCipheriv, createDecipheriv, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { bytesToHex, keccak256 } from "viem";
import * as z from "zod";

const hexSchema = z.string().regex(/^([0-9a-fA-F]{2})+$/);

/** The maximum memory that a file may require, which is eight times the memory for geth's files. */
const maxMemoryBytes = 2 ** 31;

/** A file of the Web3 Secret Storage, version 3, with scrypt, as geth and `cast wallet` write it. */
const keystoreSchema = z.object({
	version: z.literal(3),
	id: z.string().optional(),
	/** Hex without 0x for secp256k1, base58 for Ed25519. Some programs leave it out. */
	address: z.string().optional(),
	crypto: z.object({
		cipher: z.literal("aes-128-ctr"),
		ciphertext: hexSchema,
		cipherparams: z.object({ iv: hexSchema }),
		kdf: z.literal("scrypt"),
		kdfparams: z.object({
			dklen: z.literal(32),
			n: z.int().positive(),
			r: z.int().positive(),
			p: z.int().positive(),
			salt: hexSchema,
		}),
		mac: hexSchema,
	}),
});
export type Keystore = z.output<typeof keystoreSchema>;

/** The cost that geth uses: about a second and 256 MB for each guess at the password. */
const standardScryptN = 262_144;

/** Encrypts 32 bytes under a password. */
export async function encryptKeystore({
	secret,
	password,
	address,
	id,
	random,
	n = standardScryptN,
}: {
	secret: Uint8Array;
	password: string;
	address: string;
	id: string;
	random: (bytes: number) => Uint8Array;
	n?: number;
}): Promise<Keystore> {
	const [salt, iv] = [random(32), random(16)];
	const params = { dklen: 32 as const, n, r: 8, p: 1, salt: hexOf(salt) };
	const derived = await derive(password, params);
	const cipher = createCipheriv("aes-128-ctr", derived.subarray(0, 16), iv);
	const ciphertext = Buffer.concat([cipher.update(secret), cipher.final()]);
	return {
		version: 3,
		id,
		address,
		crypto: {
			cipher: "aes-128-ctr",
			ciphertext: hexOf(ciphertext),
			cipherparams: { iv: hexOf(iv) },
			kdf: "scrypt",
			kdfparams: params,
			mac: hexOf(macOf(derived, ciphertext)),
		},
	};
}

/** Decrypts a file's 32 bytes. Throws a message without a secret if the file or the password is wrong. */
export async function decryptKeystore(
	text: string,
	password: string,
): Promise<{ secret: Uint8Array; address: string | undefined }> {
	const { crypto, address } = parse(text);
	const derived = await derive(password, crypto.kdfparams);
	const ciphertext = Buffer.from(crypto.ciphertext, "hex");
	const mac = Buffer.from(crypto.mac, "hex");
	if (mac.length !== 32 || !timingSafeEqual(mac, macOf(derived, ciphertext))) {
		throw new Error("the password is wrong, or the file is damaged");
	}
	const iv = Buffer.from(crypto.cipherparams.iv, "hex");
	const decipher = createDecipheriv("aes-128-ctr", derived.subarray(0, 16), iv);
	const secret = new Uint8Array(Buffer.concat([decipher.update(ciphertext), decipher.final()]));
	if (secret.length !== 32) throw new Error("the file does not contain a key of 32 bytes");
	return { secret, address };
}

function parse(text: string): Keystore {
	let json: unknown;
	try {
		json = JSON.parse(text);
	} catch {
		throw new Error("the file is not JSON");
	}
	const parsed = keystoreSchema.safeParse(json);
	if (!parsed.success) {
		const fields = parsed.error.issues.map(({ path }) => path.join(".")).join(", ");
		throw new Error(`the file is no keystore of version 3 with scrypt (${fields})`);
	}
	return parsed.data;
}

function derive(password: string, params: Keystore["crypto"]["kdfparams"]): Promise<Buffer> {
	const { n: N, r, p, salt, dklen } = params;
	const maxmem = 128 * r * (N + p + 2);
	if (maxmem > maxMemoryBytes) throw new Error("the file asks for too much memory");
	return promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)(
		password,
		Buffer.from(salt, "hex"),
		dklen,
		{ N, r, p, maxmem },
	).catch((error: Error) => {
		throw new Error(`scrypt refuses the file's parameters: ${error.message}`);
	});
}

function macOf(derived: Buffer, ciphertext: Uint8Array): Uint8Array {
	return keccak256(bytesToHex(Buffer.concat([derived.subarray(16, 32), ciphertext])), "bytes");
}

function hexOf(bytes: Uint8Array): string {
	return Buffer.from(bytes).toString("hex");
}
