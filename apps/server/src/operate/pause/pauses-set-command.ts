import { pauseChain } from "../../swap/pause/pauses.ts";
import { checkName } from "../check-name.ts";
import { withDatabase } from "../with-database.ts";
import { parseChainId } from "./parse-chain-id.ts";

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
		console.log(`chain ${chainId} is paused: every API process stops quoting it within two seconds`);
	else console.log(`chain ${chainId} was already paused by an operator and stays paused`);
}
