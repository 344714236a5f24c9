import { randomBytes, randomUUID } from "node:crypto";
import { pino } from "pino";
import { insertAccount } from "../../src/api/key/accounts.ts";
import { insertApiKeys } from "../../src/api/key/api-key-record.ts";
import type { ConsoleParts } from "../../src/console/console-parts.ts";
import { createConsole } from "../../src/console/create-console.ts";
import { ensureOperator, insertInvite } from "../../src/console/login/operators.ts";
import { hashToken } from "../../src/console/login/sessions.ts";
import { createWorkerMetrics } from "../../src/console/read/worker-metrics.ts";
import { createTestDatabase } from "../service/test-database.ts";
import { sequence } from "../swap/sequence.ts";
import { consoleConfig } from "./console-config.ts";
import { fillVaults, moveChains } from "./console-world.ts";
import { type Story, seedSwaps } from "./seed-swaps.ts";
import { workerMetricsText } from "./worker-metrics-text.ts";

const accounts = ["agents-one", "agents-two", "agents-three", "agents-four"];

/** Creates a database with accounts and chains, and a console over it with the console's own rights. */
export async function createConsoleScene({
	isDevnet = false,
	port = 9_090,
	metrics = workerMetricsText(),
	nowMs = Date.now,
}: {
	isDevnet?: boolean;
	port?: number;
	metrics?: string;
	nowMs?: () => number;
} = {}) {
	const database = await createTestDatabase({ as: "console" });
	const config = consoleConfig({ port });
	const publicUrl = `http://localhost:${port}`;
	const accountIds: string[] = [];
	const keyIds: string[] = [];
	for (const name of accounts) {
		const id = randomUUID();
		await insertAccount(database.owner, { id, name });
		const keyId = `${name.replaceAll(/[^a-z]|[ilou]/g, "")}00000000`.slice(0, 12).padEnd(12, "0");
		await insertApiKeys(database.owner, { keys: [{ id: keyId, hash: randomBytes(32) }], accountId: id });
		accountIds.push(id);
		keyIds.push(keyId);
	}
	await fillVaults(database.owner, config);
	await moveChains(database.owner, { config, nowMs: nowMs() });
	const parts: ConsoleParts = {
		pool: database.pool,
		config,
		publicUrl,
		isDevnet,
		readMetrics: createWorkerMetrics({ urls: ["http://worker"], nowMs, fetchText: async () => metrics }),
		nowMs,
		random: randomBytes,
		log: pino({ level: "silent" }),
	};
	const app = createConsole(parts);
	const seeding = {
		owner: database.owner,
		worker: database.pools.worker,
		config,
		accountIds,
		random: sequence(7),
	};
	return {
		database,
		config,
		publicUrl,
		accountIds,
		keyIds,
		app,
		parts,
		seed: (options: { stories: readonly Story[]; atMs: number }) => seedSwaps(seeding, options),
		/** Writes the current state of the chains, and keeps rounds and lanes from being late, since none runs. */
		moveChains: async () => {
			await moveChains(database.owner, { config, nowMs: nowMs() });
			await database.owner.query("update waits set due_at = now() + interval '1 minute'");
			await database.owner.query("update jobs set updated_at = now() - interval '4 seconds'");
		},
		invite: async (name: string, { expiresAtMs = nowMs() + 60_000 } = {}) => {
			const token = randomBytes(32).toString("base64url");
			const { id } = await ensureOperator(database.owner, { id: randomUUID(), name });
			await insertInvite(database.owner, { operatorId: id, tokenHash: hashToken(token), expiresAtMs });
			return token;
		},
		stop: async () => {
			await app.close();
			await database.drop();
		},
	};
}

export type ConsoleScene = Awaited<ReturnType<typeof createConsoleScene>>;
