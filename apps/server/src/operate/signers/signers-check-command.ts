import type { KeySettings } from "@geoswap/keys/config/key-settings";
import type { EvmSigner, SolanaSigner } from "@geoswap/keys/signer";
import { trySigner } from "@geoswap/keys/try-signer";
import { readAttesterConfig } from "../../attester/attester-config.ts";
import { evmChains, solanaChain } from "../../config/chain-config.ts";
import { ConfigError } from "../../config/config-error.ts";
import { readConfig } from "../../config/read-config.ts";
import { openAttesterKey } from "../../signer/open-attester-key.ts";
import { openReceiptKey } from "../../signer/open-receipt-key.ts";
import { openRelayers } from "../../signer/open-relayers.ts";
import { openSigners, type Signers } from "../../signer/open-signers.ts";
import { openSolanaRole, solanaRoleNames } from "../../signer/open-solana-keys.ts";
import { openTreasurer } from "../../signer/open-treasurer.ts";

type Signer = EvmSigner | SolanaSigner;
/** The keys of one purpose. */
type Purpose = { use: string; open: () => Promise<Signer[]> };
type Checked = {
	use: string;
	address?: string;
	key?: string;
	backend?: string;
	/** The median of all signatures, and the longest. */
	milliseconds?: number;
	slowestMilliseconds?: number;
	/** Absent if the key signed. */
	problem?: string;
};

/** Signs with every configured key. Returns the exit code: 0 if each signed, 1 if one did not. */
export async function signersCheckCommand({
	config: path,
	for: process,
	times = "1",
	json = false,
}: {
	config: string;
	for: "api" | "worker" | "attester";
	times?: string;
	json?: boolean;
}): Promise<number> {
	const count = Number(times);
	if (!Number.isInteger(count) || count < 1)
		throw new ConfigError("--times", "must be a whole number from 1");
	const { settings, purposesWith } = { api: apiKeys, worker: workerKeys, attester: attesterKeys }[process](
		path,
	);
	const signers = openSigners({ settings, nowMs: Date.now });
	try {
		const checked = await checkAll(purposesWith(signers), count);
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
	const actsIn = config.treasury.mode === "act" ? evmChains(config) : [];
	const solana = solanaChain(config);
	const purposesWith = (signers: Signers): Purpose[] => [
		...evmChains(config).map(({ chainId }) => ({
			use: `relayer of chain ${chainId}`,
			open: () => openRelayers(chainId, { keys, signers }),
		})),
		...actsIn.map(({ chainId }) => ({
			use: `treasurer of chain ${chainId}`,
			open: async () => [await openTreasurer(chainId, { keys, signers })],
		})),
		...(solana
			? solanaRoleNames.map((role) => ({
					use: `Solana ${role}`,
					open: () => openSolanaRole(role, { keys, signers, deployment: solana.deployment }),
				}))
			: []),
	];
	return { settings: keys, purposesWith };
}

function apiKeys(path: string): Keys {
	const { api, deployment } = readConfig(path);
	const keys = api.receipts;
	const purposesWith = (signers: Signers): Purpose[] => [
		{
			use: "receipts",
			open: async () => {
				const signer = await openReceiptKey({ keys, signers, deployment });
				return signer ? [signer] : [];
			},
		},
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

/** Tries one key after the other, so that no key waits for another and each time is that of one key. */
async function checkAll(purposes: readonly Purpose[], count: number): Promise<Checked[]> {
	const checked: Checked[] = [];
	for (const { use, open } of purposes) {
		try {
			for (const signer of await open()) checked.push(await checkSigner(use, signer, count));
		} catch (error) {
			checked.push({ use, problem: (error as Error).message });
		}
	}
	return checked;
}

async function checkSigner(use: string, signer: Signer, count: number): Promise<Checked> {
	const { name, address } = signer;
	const about = { use, address, key: name.reference, backend: name.backend };
	const times: number[] = [];
	try {
		for (let i = 0; i < count; i++) {
			const startMs = performance.now();
			await trySigner(signer);
			times.push(performance.now() - startMs);
		}
	} catch (error) {
		return { ...about, problem: (error as Error).message };
	}
	times.sort((a, b) => a - b);
	const [median = 0, slowest = 0] = [times[Math.floor(times.length / 2)], times.at(-1)];
	return { ...about, milliseconds: rounded(median), slowestMilliseconds: rounded(slowest) };
}

/** Rounds to tenths, because a key in memory takes less than a millisecond. */
function rounded(milliseconds: number): number {
	return Math.round(milliseconds * 10) / 10;
}

function describe({
	use,
	address,
	key,
	backend,
	milliseconds,
	slowestMilliseconds,
	problem,
}: Checked): string {
	const what = [use, address, key, backend].filter((part) => part !== undefined).join("  ");
	return problem === undefined
		? `ok    ${what}  ${milliseconds} ms (slowest ${slowestMilliseconds} ms)`
		: `FAIL  ${what}: ${problem}`;
}
