import { breachKey } from "../../audit/audit-memory.ts";
import type { Breach } from "../../audit/read/report.ts";
import { ConfigError } from "../../config/config-error.ts";
import {
	liftPauses,
	type Pause,
	type PauseCause,
	pauseChain,
	readLiftedPauses,
	readPauses,
} from "../../swap/pause/pauses.ts";
import { describeError } from "../../telemetry/log.ts";
import { checkName } from "../check-name.ts";
import { auditBooks } from "../reconcile/audit-books.ts";
import { withDatabase } from "../with-database.ts";

const maxLifted = 20;

/** Returns the exit code: 0 if no chain is paused, 1 if one is. */
export async function listPausesCommand({ json }: { json?: boolean }): Promise<number> {
	const { open, lifted } = await withDatabase(async (pool) => ({
		open: await readPauses(pool),
		lifted: await readLiftedPauses(pool, { limit: maxLifted }),
	}));
	if (json) console.log(JSON.stringify({ open, lifted }));
	else {
		for (const pause of open) console.log(describePause(pause));
		for (const { liftedAt, liftedBy, liftedReason, ...pause } of lifted) {
			const when = liftedAt.toISOString();
			console.log(`lifted ${when} by ${liftedBy}, "${liftedReason}": ${describePause(pause)}`);
		}
		if (open.length === 0) console.log("no chain is paused");
	}
	return open.length === 0 ? 0 : 1;
}

export function describePause({ chainId, cause, reason, setBy, since, breaches }: Pause): string {
	const lines = [`chain ${chainId}: paused since ${since.toISOString()} by ${setBy} (${cause}): ${reason}`];
	return [...lines, ...breaches.map((breach) => `  ${breach}`)].join("\n");
}

/**
 * Pauses a chain. Succeeds also if it is paused already, because an operator who repeats the command in haste has
 * what he wants.
 */
export async function setPauseCommand({
	chainId: text,
	by,
	reason,
	json,
}: {
	chainId: string;
	by: string;
	reason: string;
	json?: boolean;
}): Promise<void> {
	const chainId = parseChainId(text);
	const setBy = checkName("--by", by);
	const isNew = await withDatabase((pool) =>
		pauseChain(pool, { chainId, cause: "operator", reason, setBy, nowMs: Date.now() }),
	);
	if (json) console.log(JSON.stringify({ chainId, paused: true, isNew }));
	else if (isNew)
		console.log(`chain ${chainId} is paused; every API process stops quoting it within two seconds`);
	else console.log(`chain ${chainId} was already paused by an operator and stays paused`);
}

/**
 * Returns the exit code: 0 if the pause was lifted, 1 if the chain is not paused, 3 if the remaining breaches could
 * not be determined, in which case nothing is lifted unless `unchecked` is given, 4 if an audit found more meanwhile,
 * which is reported and keeps the chain paused. Breaches that are reported as remaining are accepted with the
 * lifting, and do not pause the chain again.
 */
export async function liftPauseCommand(
	{
		chainId: text,
		cause,
		by,
		reason,
		unchecked = false,
		config,
		json,
	}: {
		chainId: string;
		cause?: PauseCause;
		by: string;
		reason: string;
		unchecked?: boolean;
		config: string;
		json?: boolean;
	},
	audit = auditBooks,
): Promise<number> {
	const chainId = parseChainId(text);
	const name = checkName("--by", by);
	return withDatabase(async (pool) => {
		const ofChainNow = (await readPauses(pool)).filter((pause) => pause.chainId === chainId);
		const open = ofChainNow.filter((pause) => (cause ? pause.cause === cause : pause.cause !== "finality"));
		if (!cause && ofChainNow.length > open.length) {
			console.error(
				`chain ${chainId} stays paused with the cause finality. Lifting that undoes the final blocks that the chain dropped. To do so, pass --cause finality`,
			);
		}
		if (open.length === 0) {
			console.error(`error: chain ${chainId} is not paused${cause ? ` with the cause ${cause}` : ""}`);
			return 1;
		}
		let still: Breach[] | undefined;
		try {
			if (!unchecked) {
				const report = await audit(pool, { config });
				const failed = report.unchecked.find((chain) => chain.chainId === chainId);
				if (failed) throw new Error(failed.why);
				still = report.breaches;
			}
		} catch (error) {
			console.error("error: the books could not be audited:", describeError(error));
			console.error("Nothing was lifted. To lift the pause without an audit, pass --unchecked.");
			return 3;
		}
		const ofChain = still?.filter((breach) => breach.chainIds.includes(chainId));
		const breaches = ofChain?.map(breachKey) ?? [];
		const seen = [...open.flatMap((pause) => pause.breaches), ...breaches];
		const lifted = await liftPauses(pool, {
			chainId,
			cause,
			by: name,
			reason,
			nowMs: Date.now(),
			breaches,
			seen,
		});
		const isLifted = (pause: Pause) => lifted.some((one) => one.cause === pause.cause);
		const left = open.some((pause) => !isLifted(pause)) ? await readPauses(pool) : [];
		const notLifted = left.filter((pause) => pause.chainId === chainId && pause.cause === "breach");
		if (json) console.log(JSON.stringify({ chainId, lifted, notLifted, stillBreached: ofChain ?? null }));
		else {
			for (const pause of lifted) console.log(`lifted: ${describePause(pause)}`);
			for (const { invariant, message, next } of ofChain ?? []) {
				console.log(`STILL BREACHED ${invariant} ${message}. Next: ${next}`);
			}
			if (ofChain?.length === 0) console.log(`all invariants hold on chain ${chainId}`);
			if (!ofChain) console.log("the books were not audited");
		}
		for (const pause of notLifted) {
			const more = pause.breaches.filter((breach) => !seen.includes(breach));
			console.error(
				"error: the pause was not lifted, because an audit found more meanwhile. To accept that too, lift again:",
			);
			for (const breach of more) console.error(`  ${breach}`);
		}
		return notLifted.length > 0 ? 4 : 0;
	});
}

/** Throws if the text is not the id of a chain. */
function parseChainId(text: string): number {
	if (!/^[1-9]\d{0,14}$/.test(text)) throw new ConfigError("<chainId>", `${text} is not the id of a chain`);
	return Number(text);
}
