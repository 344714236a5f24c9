import { createClient, http } from "viem";
import { applySettings, expectEvm } from "./apply-settings.ts";
import { checkPreset } from "./check-preset.ts";
import { readPreset } from "./read-presets.ts";

const timeoutMs = 10_000;

/** Checks a preset against a node of its chain. Returns the exit code: 1 if the chain differs from the preset. */
export async function chainCheckCommand({
	name,
	rpc,
	set = [],
	without = [],
	json,
}: {
	name: string;
	rpc: string;
	set?: string[];
	without?: string[];
	json?: boolean;
}): Promise<number> {
	const preset = applySettings(expectEvm(readPreset(name)), { settings: set, without });
	const client = createClient({ transport: http(rpc, { timeout: timeoutMs, retryCount: 1 }) });
	const findings = await checkPreset(client, preset);
	if (json) console.log(JSON.stringify(findings));
	else
		for (const { part, result, message } of findings) console.log(`${result.padEnd(5)}${part}: ${message}`);
	return findings.some(({ result }) => result === "fail") ? 1 : 0;
}
