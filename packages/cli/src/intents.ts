import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type MandateJson, signedMandateSchema } from "@geoswap/protocol";
import { type EndedSwap, getSwapState, type SwapState } from "@geoswap/sdk";
import { fileStore } from "@geoswap/sdk/file-store";
import * as z from "zod";
import { CliError } from "./cli-error.ts";
import { exitCode } from "./exit-code.ts";
import { shellCommand } from "./shell-command.ts";

const unitsSchema = z.string().regex(/^\d+$/);
/**
 * The request under an id, stored before anything is done. The SDK stores the progress, and the program has to pass
 * this to it again: `max` must not become another amount, nor may a resumed swap lose its minimum.
 */
const intentSchema = z.object({
	version: z.literal(1),
	id: z.string(),
	createdAt: z.string(),
	/** The service's address, because a signed op is only for the service that built it. */
	baseUrl: z.string(),
	isMax: z.boolean(),
	originChain: z.int(),
	destinationChain: z.int(),
	inputToken: z.string(),
	outputToken: z.string(),
	/** The maximum if the output is exact. */
	amount: unitsSchema,
	/** `--receive`: the exact output. */
	outputAmount: unitsSchema.exactOptional(),
	walletAddress: z.string(),
	recipient: z.string().exactOptional(),
	slippageBps: z.int().exactOptional(),
	/** `--top-up`: the recipient's gas in native units. With `topUpUsd`, what a user approved for that value. */
	topUp: unitsSchema.exactOptional(),
	topUpUsd: z.string().exactOptional(),
	minOutput: unitsSchema.exactOptional(),
	/** `--accept-any-price`: the quoted minimum needs no approval. */
	acceptsAnyPrice: z.boolean().exactOptional(),
	/** `--typed-only`: the wallet is delegated to the account that accepts typed data only. */
	isTypedOnly: z.boolean().exactOptional(),
	/** `--mandate`: the owner's mandate, within which the key signs. */
	mandate: z.custom<MandateJson>((value) => signedMandateSchema.safeParse(value).success).exactOptional(),
});
export type Intent = z.infer<typeof intentSchema>;

/** The fields that must be the same when an intent is resumed, because another value would make it another swap. */
export const termFields = [
	"baseUrl",
	"originChain",
	"destinationChain",
	"inputToken",
	"outputToken",
	"amount",
	"outputAmount",
	"walletAddress",
	"recipient",
	"slippageBps",
	"topUp",
	"topUpUsd",
] as const satisfies (keyof Intent)[];

const lockPausesMs = [20, 40, 80, 160];

/** The progress of an intent: the SDK's record, or `working` if a process works on it and it is not signed yet. */
export type IntentState = SwapState | { state: "working" } | { state: "unreadable" };

export type Intents = ReturnType<typeof openIntents>;

export function openIntents(home: string) {
	const directory = join(home, "intents");
	const store = fileStore(directory);
	const recordDirectory = join(home, "swaps");
	const records = fileStore(recordDirectory);
	const find = async (id: string): Promise<Intent | undefined> => {
		if (await isMissing(directory)) return undefined;
		const text = await store.get(id);
		if (text === undefined) return undefined;
		const intent = parse(text);
		if (intent) return intent;
		throw unreadable(id);
	};
	const keep = (intent: Intent) => store.set(intent.id, JSON.stringify(intent));
	const recordOf = async (id: string): Promise<IntentState> => {
		if (await isMissing(recordDirectory)) return { state: "none" };
		return getSwapState(records, id).catch(() => ({ state: "unreadable" as const }));
	};
	/** Returns undefined if another process works on the intent. Waits for a process that holds the lock only to read. */
	const findLock = async (id: string): Promise<(() => Promise<void>) | undefined> => {
		for (const pauseMs of lockPausesMs) {
			const unlock = await store.lock(id);
			if (unlock) return unlock;
			await sleep(pauseMs);
		}
		return store.lock(id);
	};
	/** Returns the intents, newest first, and the files that cannot be read. */
	const list = async (): Promise<{ intents: Intent[]; unreadable: string[] }> => {
		const names = (await readdir(directory).catch(() => [])).filter((name) => name.endsWith(".json"));
		const files = await Promise.all(
			names.map(async (name) => {
				const path = join(directory, name);
				return { path, intent: parse(await readFile(path, "utf8").catch(() => "")) };
			}),
		);
		return {
			intents: files
				.flatMap(({ intent }) => intent ?? [])
				.sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1)),
			unreadable: files.filter(({ intent }) => !intent).map(({ path }) => path),
		};
	};
	return {
		/** The store for `swap()`. */
		records,
		find,
		list,
		/** Locks the intent, from before it is read until its swap has ended. Throws if another process has the lock. */
		lock: async (id: string): Promise<() => Promise<void>> => {
			const unlock = await findLock(id);
			if (unlock) return unlock;
			throw inProgress(id);
		},
		/** Requires the lock. Returns the stored intent, or stores the one that `make` returns if the id is new. */
		findOrKeep: async (id: string, make: () => Promise<Intent>): Promise<Intent> => {
			const found = await find(id);
			if (found) return found;
			const made = await make();
			await keep(made);
			return made;
		},
		/** Requires the lock. */
		keep,
		/** Requires the lock, unless the caller tolerates that another process may be about to sign. */
		recordOf,
		/** Returns the state, for a caller without the lock. */
		stateOf: async (id: string): Promise<IntentState> => {
			const found = await recordOf(id);
			if (found.state !== "none" && found.state !== "open") return found;
			try {
				// No process works on an intent that is not stored, so it needs no lock, and no lock file is created.
				if (!(await find(id))) return found;
				const unlock = await findLock(id);
				if (!unlock) return { state: "working" };
				// The record now has everything that was signed before the lock was free.
				const last = await recordOf(id);
				await unlock();
				return last;
			} catch {
				return { state: "unreadable" };
			}
		},
		/** Returns how the swap ended, if the SDK has stored that. */
		findEnd: async (id: string): Promise<EndedSwap | undefined> => {
			const found = await recordOf(id);
			return found.state === "ended" ? found.swap : undefined;
		},
		/** Returns the ids of the intents that became swaps, by swap id. */
		idsBySwap: async (): Promise<Map<string, string>> => {
			const pairs = await Promise.all(
				(await list()).intents.map(async ({ id }): Promise<[string, string][]> => {
					const found = await recordOf(id);
					return "swapId" in found ? [[found.swapId, id]] : [];
				}),
			);
			return new Map(pairs.flat());
		},
	};
}

/** Returns true if what was signed, or is about to be, may become a swap or already is one that has not ended. */
export function mayExecute({ state }: IntentState): boolean {
	return state !== "none" && state !== "open" && state !== "ended";
}

export function resumeCommand(id: string): string {
	return shellCommand("geoswap", "swap", "--resume", id);
}

/** Throws if an intent cannot have this id. `swp_…` is the id of a swap, and would be ambiguous for an intent. */
export function checkId(id: string): string {
	if (id !== "" && id.length <= 200 && !id.startsWith("swp_") && !id.startsWith("-")) return id;
	throw new CliError(`--id must have 1 to 200 characters, and must not begin with swp_ or a dash.`, {
		code: "USAGE",
		section: "resuming",
	});
}

/** Returns true if nothing was ever stored in the directory. A reader need not create it, and may not be able to. */
async function isMissing(directory: string): Promise<boolean> {
	const isNone = ({ code }: NodeJS.ErrnoException) => code === "ENOENT" || code === "ENOTDIR";
	return stat(directory).then(() => false, isNone);
}

function parse(text: string): Intent | undefined {
	try {
		return intentSchema.parse(JSON.parse(text));
	} catch {
		return undefined;
	}
}

function unreadable(id: string): CliError {
	return new CliError(`The record of ${id} cannot be read. Use the version of geoswap that wrote it.`, {
		code: "INTENT_CHANGED",
		exit: exitCode.mayExecute,
		next: "contact_operator",
		section: "resuming",
		mayExecute: true,
	});
}

export function inProgress(id: string): CliError {
	return new CliError(
		`Another geoswap process is working on ${id}, and may sign it at any moment. Wait for it, or check it: ${shellCommand("geoswap", "status", id)}`,
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
