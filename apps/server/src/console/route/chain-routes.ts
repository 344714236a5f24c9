import type { ChainNames } from "../../config/chain-names.ts";
import { inTransaction } from "../../database/database.ts";
import { liftPauses, pauseChain, readLiftedPauses } from "../../swap/pause/pauses.ts";
import type { ConsoleParts } from "../console-parts.ts";
import { writeConsoleLog } from "../login/console-log.ts";
import { chainsPage, confirmPage } from "../page/chains-page.ts";
import { errorPage } from "../page/page-frame.ts";
import type { Overview } from "../read/read-overview.ts";
import { type ConsoleAnswer, type ConsoleRoute, type OperatorRequest, page } from "./console-route.ts";

const maxLifted = 20;
const longestReason = 300;

/** Returns the routes that show chains, pause them and lift the pauses that operators set. */
export function chainRoutes(
	{ pool, config, nowMs }: ConsoleParts,
	{ chainNames, readOverview }: { chainNames: ChainNames; readOverview: () => Promise<Overview> },
): ConsoleRoute[] {
	const ask =
		(action: "pause" | "lift") =>
		async ({ params, formToken }: OperatorRequest): Promise<ConsoleAnswer> => {
			const chain = chainOf(params.chainId);
			return chain ? page(confirmPage({ action, ...chain, formToken })) : noChain();
		};
	return [
		{
			method: "GET",
			path: "/chains",
			handle: async () => {
				const [overview, lifted] = await Promise.all([
					readOverview(),
					readLiftedPauses(pool, { limit: maxLifted }),
				]);
				return page(chainsPage({ overview, lifted }, { config, chainNames, nowMs: nowMs() }));
			},
		},
		{ method: "GET", path: "/chains/:chainId/pause", handle: ask("pause") },
		{ method: "GET", path: "/chains/:chainId/lift", handle: ask("lift") },
		{ method: "POST", path: "/chains/:chainId/pause", handle: (request) => act("pause", request) },
		{ method: "POST", path: "/chains/:chainId/lift", handle: (request) => act("lift", request) },
	];

	function chainOf(text: string | undefined): { chainId: number; name: string } | undefined {
		const chain = config.chains.find(({ chainId }) => String(chainId) === text);
		return chain && { chainId: chain.chainId, name: chainNames.name(chain.chainId) };
	}

	async function act(action: "pause" | "lift", request: OperatorRequest): Promise<ConsoleAnswer> {
		const { params, body, formToken, operator, address } = request;
		const chain = chainOf(params.chainId);
		if (!chain) return noChain();
		const reason = typeof body.reason === "string" ? body.reason.trim() : "";
		const problem = problemOf({ reason, isSure: body.sure === "yes" });
		if (problem) return page(confirmPage({ action, ...chain, formToken, problem, reason }));
		const { chainId, name } = chain;
		const by = operator.name;
		// One transaction, so that the log has the action if and only if it was done.
		await inTransaction(pool, async (db) => {
			const isDone =
				action === "pause"
					? await pauseChain(db, { chainId, cause: "operator", reason, setBy: by, nowMs: nowMs() })
					: (await liftPauses(db, { chainId, cause: "operator", by, reason, nowMs: nowMs() })).length > 0;
			if (!isDone) return;
			const detail =
				action === "pause"
					? `Paused ${name} (chain ${chainId}): ${reason}`
					: `Lifted the operator's pause of ${name} (chain ${chainId}): ${reason}`;
			await writeConsoleLog(db, {
				actor: by,
				action: action === "pause" ? "paused" : "lifted",
				detail,
				address,
			});
		});
		return { kind: "redirect", to: `/chains#chain-${chainId}` };
	}
}

function problemOf({ reason, isSure }: { reason: string; isSure: boolean }): string | undefined {
	if (reason === "") return "Give a reason.";
	if (reason.length > longestReason) return `The reason is longer than ${longestReason} characters.`;
	return isSure ? undefined : "Confirm that you want this.";
}

function noChain(): ConsoleAnswer {
	return { ...errorPage("The configuration has no such chain."), status: 404 };
}
