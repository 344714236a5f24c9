import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { serverMain } from "@geoswap/devnet";
import { expect, test } from "vitest";
import { sharedEnvironment } from "../shared-environment.ts";

const { serverEnvironment } = sharedEnvironment();
const config = serverEnvironment.GEOSWAP_CONFIG ?? "";

function health(...args: string[]): Promise<{ code: number | null; stdout: string }> {
	return new Promise((resolve) => {
		const command = [serverMain, "health", ...args, "--json"];
		const child = execFile(process.execPath, command, { env: serverEnvironment }, (_, stdout) =>
			resolve({ code: child.exitCode, stdout }),
		);
	});
}

test.concurrent.each([
	["api", ["api", "--ready"], "/ready"],
	["worker", ["worker"], "/health"],
	["attester", ["attester", "--config", join(dirname(config), "attester-1.json")], "/health"],
])("geoswapd health finds a running process by its configuration: %s", async (process, args, path) => {
	const { code, stdout } = await health(...args);
	const said = JSON.parse(stdout);
	expect({ code, said }).toEqual({
		code: 0,
		said: { process, url: expect.stringMatching(path), healthy: true },
	});
});
