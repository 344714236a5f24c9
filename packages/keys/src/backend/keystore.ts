import { readFileSync } from "node:fs";
import { ConfigError } from "../config/config-error.ts";
import type { KeySettings } from "../config/key-settings.ts";
import { evmSignerOf } from "../evm-signer-of.ts";
import { decryptKeystore } from "../keystore.ts";
import { readLine } from "../read-line.ts";
import { solanaSignerOf } from "../solana-signer-of.ts";
import type { Backend } from "./backend.ts";
import { memoryDigestKey, memoryMessageKey } from "./memory-key.ts";

/** Opens keys in encrypted files. After that they are in the memory of this process, but nowhere else. */
export function openKeystores(settings: KeySettings["keystore"]): Backend {
	// Each file takes 256 MB while it is decrypted, so they are decrypted one after the other.
	let last: Promise<unknown> = Promise.resolve();
	const decrypt = (path: string) => {
		const decrypting = last.then(() => decryptFile(path, settings));
		last = decrypting.catch(() => {});
		return decrypting;
	};
	return {
		async openEvm({ name, rest }) {
			const { secret, address } = await decrypt(rest);
			if (address !== undefined && !/^(0x)?[0-9a-fA-F]{40}$/.test(address)) {
				throw new ConfigError(rest, "contains an Ed25519 key, which cannot sign for EVM chains");
			}
			const signer = evmSignerOf(memoryDigestKey(name, secret));
			const own = signer.address.slice(2).toLowerCase();
			if (address !== undefined && address.toLowerCase().replace(/^0x/, "") !== own) {
				throw new ConfigError(rest, `names the address ${address}, but its key is that of ${signer.address}`);
			}
			return signer;
		},
		async openSolana({ name, rest }) {
			const { secret, address } = await decrypt(rest);
			const signer = solanaSignerOf(memoryMessageKey(name, secret));
			if (address !== signer.address) {
				throw new ConfigError(
					rest,
					`is not the keystore of an Ed25519 key: make it with geoswapd signers make-keystore --curve ed25519`,
				);
			}
			return signer;
		},
	};
}

async function decryptFile(path: string, settings: KeySettings["keystore"]) {
	if (!settings) {
		throw new ConfigError("keys.keystore", "is missing: its passwordFile is the file with the password");
	}
	const password = readLine(settings.passwordFile);
	let text: string;
	try {
		text = readFileSync(path, "utf8");
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		throw new ConfigError(path, `cannot be read (${code}). Make it with geoswapd signers make-keystore`);
	}
	try {
		return await decryptKeystore(text, password);
	} catch (error) {
		throw new ConfigError(path, (error as Error).message);
	}
}
