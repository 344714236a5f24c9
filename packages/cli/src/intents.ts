import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { getSwapState, type SwapState } from "@geoswap/sdk";
import { fileStore } from "@geoswap/sdk/file-store";
import { CliError } from "./cli-error.ts";
import { exitCode } from "./exit-code.ts";

/**
 * What was asked for under an id, kept before anything is done. The SDK keeps how far it came; this is what it has to be
 * given again: `max` must not become another amount, nor a resumed swap lose its minimum.
 */
export type Intent = {
	version: 1;
	id: string;
	createdAt: string;
	/** A signed op is for the service that built it. */
	baseUrl: string;
	isMax: boolean;
	originChain: number;
	destinationChain: number;
	inputToken: string;
	outputToken: string;
	amount: string;
	walletAddress: string;
	recipient?: string;
	slippageBps?: number;
	minOutput?: string;
};

/** How far the SDK's record says that an intent has come. */
export type IntentState = SwapState | { state: "unreadable" };

export function openIntents(home: string) {
	const directory = join(home, "intents");
	const store = fileStore(directory);
	const records = fileStore(join(home, "swaps"));
	const find = async (id: string): Promise<Intent | undefined> => {
		const text = await store.get(id);
		return text === undefined ? undefined : parse(text, id);
	};
	return {
		/** For `swap()`. */
		records,
		find,
		/** Keeps what `make` gives where the id is new. What is there already is given back as it is. */
		findOrKeep: async (id: string, make: () => Promise<Intent>): Promise<Intent> => {
			const unlock = await store.lock(id);
			if (!unlock) throw inProgress(id);
			try {
				const found = await find(id);
				if (found) return found;
				const made = await make();
				await store.set(id, JSON.stringify(made));
				return made;
			} finally {
				await unlock();
			}
		},
		stateOf: (id: string): Promise<IntentState> =>
			getSwapState(records, id).catch(() => ({ state: "unreadable" as const })),
		/** Newest first. */
		list: async (): Promise<Intent[]> => {
			const names = await readdir(directory).catch(() => []);
			const texts = await Promise.all(
				names.filter((name) => name.endsWith(".json")).map((name) => readFile(join(directory, name), "utf8")),
			);
			return texts
				.map((text) => parse(text, "an intent"))
				.sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
		},
	};
}

/** `swp_…` is a swap's own name: as the name of an intent nobody would know which is meant. */
export function checkId(id: string): string {
	if (id !== "" && id.length <= 200 && !id.startsWith("swp_") && !id.startsWith("-")) return id;
	throw new CliError(
		`--id is a text of at most 200 characters that begins neither with swp_ nor with a dash.`,
		{
			code: "USAGE",
			section: "resuming",
		},
	);
}

function parse(text: string, id: string): Intent {
	try {
		const intent = JSON.parse(text) as Intent;
		if (intent.version === 1) return intent;
	} catch {
		// Told below.
	}
	throw new CliError(`What was kept of ${id} cannot be read. Use the version of geoswap that wrote it.`, {
		code: "INTENT_CHANGED",
		exit: exitCode.mayExecute,
		next: "contact_operator",
		section: "resuming",
		mayExecute: true,
	});
}

function inProgress(id: string): CliError {
	return new CliError(
		`Another geoswap works on ${id}. Wait for that one, or follow it: geoswap status ${id}`,
		{
			code: "SWAP_IN_PROGRESS",
			exit: exitCode.mayExecute,
			next: "retry",
			retryable: true,
			section: "resuming",
			mayExecute: true,
		},
	);
}
