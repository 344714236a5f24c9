import { ConfigError } from "@geoswap/keys/config/config-error";
import { readSignerConfig, type SignerConfig } from "../signer-config.ts";
import { checkSigner, describeProblem, type Finding } from "./check-signer.ts";

/** Returns the exit code: 0 if nothing failed, 1 if something did, 2 if the file itself is wrong. */
export async function checkCommand({
	config: path,
	offline: isOffline = false,
	json = false,
}: {
	config: string;
	offline?: boolean;
	json?: boolean;
}): Promise<number> {
	let config: SignerConfig;
	try {
		config = readSignerConfig(path);
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error;
		const lines = describeProblem(error).split("\n");
		print(
			lines.map((message) => ({ part: path, result: "fail", message })),
			{ json },
		);
		return 2;
	}
	const findings: Finding[] = [
		{ part: path, result: "ok", message: "is valid" },
		...(await checkSigner(config, { isOffline })),
	];
	print(findings, { json });
	return findings.some(({ result }) => result === "fail") ? 1 : 0;
}

function print(findings: readonly Finding[], { json }: { json: boolean }): void {
	if (json) {
		console.log(JSON.stringify(findings));
		return;
	}
	for (const { part, result, message } of findings) {
		console.log(`${(result === "fail" ? "FAIL" : result).padEnd(6)}${part}: ${message}`);
	}
}
