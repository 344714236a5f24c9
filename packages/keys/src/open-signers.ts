import type { Backend, KeyToOpen, Surroundings } from "./backend/backend.ts";
import { memoryDigestKey, memoryMessageKey } from "./backend/memory-key.ts";
import { ConfigError } from "./config/config-error.ts";
import type { KeyBackend, KeyReference } from "./config/key-reference.ts";
import { parseKeyReference } from "./config/key-reference.ts";
import type { KeySettings } from "./config/key-settings.ts";
import { evmSignerOf } from "./evm-signer-of.ts";
import { type Guard, guardSigner } from "./guard-signer.ts";
import type { EvmSigner, SolanaSigner } from "./signer.ts";
import type { KeyName } from "./signer-error.ts";
import { solanaSignerOf } from "./solana-signer-of.ts";

/** Opens keys of all backends. */
export type Signers = {
	openEvm: (reference: KeyReference) => Promise<EvmSigner>;
	openSolana: (reference: KeyReference) => Promise<SolanaSigner>;
	/** Makes a signer of a key that is already in this process. */
	evmOf: (name: KeyName, secret: Uint8Array) => EvmSigner;
	solanaOf: (name: KeyName, seed: Uint8Array) => SolanaSigner;
	/** Variables with keys of real chains, which the operator allows. Their use is reported repeatedly. */
	plainOnRealChains: Set<string>;
	/** Ends the connections to the places that hold keys. */
	close: () => Promise<void>;
};

/** The places that hold keys. The code of a place is loaded only if it has a key. */
const loaders: Record<KeyBackend, (settings: KeySettings, surroundings: Surroundings) => Promise<Backend>> = {
	env: async (_settings, { environment }) =>
		(await import("./backend/environment.ts")).openEnvironment(environment),
	keystore: async ({ keystore }) => (await import("./backend/keystore.ts")).openKeystores(keystore),
	pkcs11: async ({ pkcs11 }, surroundings) =>
		(await import("./backend/pkcs11/pkcs11.ts")).openPkcs11(pkcs11, surroundings),
	awskms: async ({ awskms }) => (await import("./backend/aws-kms.ts")).openAwsKms(awskms),
	gcpkms: async ({ gcpkms }) => (await import("./backend/gcp-kms.ts")).openGcpKms(gcpkms),
	remote: async ({ remote, timeoutMs }) => {
		if (!remote) throw new ConfigError("keys.remote", "is missing: it says where the remote signer is");
		const [{ createRemoteClient }, { openRemote }] = await Promise.all([
			import("./backend/remote-client.ts"),
			import("./backend/remote.ts"),
		]);
		return openRemote(createRemoteClient({ ...remote, timeoutMs }));
	},
};

/** Returns a function for each kind of key that opens it by its reference. Only this file imports all backends. */
export function openSigners({
	settings,
	environment = process.env,
	secretNames,
	nowMs,
	onCall,
}: Omit<Guard, "timeoutMs"> &
	Pick<Surroundings, "secretNames"> &
	Partial<Surroundings> & { settings: KeySettings }): Signers {
	const guard: Guard = { timeoutMs: settings.timeoutMs, nowMs, onCall };
	const opened = new Map<KeyBackend, Promise<Backend>>();
	const find = async (reference: KeyReference): Promise<{ backend: Backend; key: KeyToOpen }> => {
		const { backend, rest } = parseKeyReference(reference);
		const opening = opened.get(backend) ?? loaders[backend](settings, { environment, secretNames });
		opened.set(backend, opening);
		return { backend: await opening, key: { name: { reference, backend }, rest } };
	};
	return {
		async openEvm(reference) {
			const { backend, key } = await find(reference);
			return guardSigner(await backend.openEvm(key), guard);
		},
		async openSolana(reference) {
			const { backend, key } = await find(reference);
			return guardSigner(await backend.openSolana(key), guard);
		},
		evmOf: (name, secret) => guardSigner(evmSignerOf(memoryDigestKey(name, secret)), guard),
		solanaOf: (name, seed) => guardSigner(solanaSignerOf(memoryMessageKey(name, seed)), guard),
		plainOnRealChains: new Set(),
		async close() {
			for (const opening of opened.values()) await (await opening.catch(() => undefined))?.close?.();
		},
	};
}
