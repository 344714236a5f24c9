import { readAttesterConfig } from "../../attester/attester-config.ts";
import { evmChains, solanaChain } from "../../config/chain-config.ts";
import type { KeySettings } from "../../config/keys-config.ts";
import { readConfig } from "../../config/read-config.ts";
import { openAttesterKey } from "../../signer/open-attester-key.ts";
import { openRelayers } from "../../signer/open-relayers.ts";
import { openSigners, type Signers } from "../../signer/open-signers.ts";
import { openSolanaRole, type SolanaRole, solanaRoles } from "../../signer/open-solana-keys.ts";
import type { EvmSigner, SolanaSigner } from "../../signer/signer.ts";
import { isRefusedBySigner } from "../../signer/signer-error.ts";

type Signer = EvmSigner | SolanaSigner;
/** The keys of one purpose. */
type Purpose = { use: string; open: () => Promise<Signer[]> };
type Checked = {
	use: string;
	address?: string;
	key?: string;
	backend?: string;
	milliseconds?: number;
	/** Absent if the key signed. */
	problem?: string;
};

/** Signs with every configured key. Returns the exit code: 0 if each signed, 1 if one did not. */
export async function signersCheckCommand({
	config: path,
	for: process,
	json = false,
}: {
	config: string;
	for: "worker" | "attester";
	json?: boolean;
}): Promise<number> {
	const { settings, purposesWith } = process === "attester" ? attesterKeys(path) : workerKeys(path);
	const signers = openSigners({ settings, nowMs: Date.now });
	try {
		const checked = (await Promise.all(purposesWith(signers).map(checkPurpose))).flat();
		for (const line of json ? [JSON.stringify(checked)] : checked.map(describe)) console.log(line);
		return checked.some(({ problem }) => problem !== undefined) ? 1 : 0;
	} finally {
		await signers.close();
	}
}

type Keys = { settings: KeySettings; purposesWith: (signers: Signers) => Purpose[] };

function workerKeys(path: string): Keys {
	const config = readConfig(path);
	const { keys } = config;
	const solana = solanaChain(config);
	const purposesWith = (signers: Signers): Purpose[] => [
		...evmChains(config).map(({ chainId }) => ({
			use: `relayer of chain ${chainId}`,
			open: () => openRelayers(chainId, { keys, signers }),
		})),
		...(solana
			? (Object.keys(solanaRoles) as SolanaRole[]).map((role) => ({
					use: `Solana ${role}`,
					open: () => openSolanaRole(role, { keys, signers, deployment: solana.deployment }),
				}))
			: []),
	];
	return { settings: keys, purposesWith };
}

function attesterKeys(path: string): Keys {
	const { keys, chains } = readAttesterConfig(path);
	const chainIds = chains.map(({ chainId }) => chainId);
	const purposesWith = (signers: Signers): Purpose[] => [
		{ use: "attester", open: async () => [await openAttesterKey(chainIds, { keys, signers })] },
	];
	return { settings: keys, purposesWith };
}

async function checkPurpose({ use, open }: Purpose): Promise<Checked[]> {
	try {
		return await Promise.all((await open()).map((signer) => checkSigner(use, signer)));
	} catch (error) {
		return [{ use, problem: (error as Error).message }];
	}
}

async function checkSigner(use: string, signer: Signer): Promise<Checked> {
	const { name, address } = signer;
	const about = { use, address, key: name.reference, backend: name.backend };
	const startMs = performance.now();
	try {
		await (signer.kind === "evm" ? signer.sign(emptyHeartbeat) : signer.sign(noTransaction));
	} catch (error) {
		// A remote signer refuses a test payload. That it judges one shows that it works.
		if (name.backend !== "remote" || !isRefusedBySigner(error)) {
			return { ...about, problem: (error as Error).message };
		}
	}
	return { ...about, milliseconds: Math.round(performance.now() - startMs) };
}

/** A heartbeat of no chain, long ago. It decides nothing anywhere. */
const emptyHeartbeat = {
	kind: "heartbeat",
	message: { chainId: 0, finalizedNumber: 0, signedAtUnixSeconds: 0 },
} as const;
/** Bytes that no cluster takes for a transaction's message. */
const noTransaction = new TextEncoder().encode("geoswapd signers check");

function describe({ use, address, key, backend, milliseconds, problem }: Checked): string {
	const what = [use, address, key, backend].filter((part) => part !== undefined).join("  ");
	return problem === undefined ? `ok    ${what}  ${milliseconds} ms` : `FAIL  ${what}: ${problem}`;
}
