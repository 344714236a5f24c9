import { serverCommand } from "@geoswap/devnet";
import { expect, test } from "vitest";
import { sharedEnvironment } from "../shared-environment.ts";

type Finding = { part: string; result: "ok" | "warn" | "fail"; message: string };

test("config check finds no failure in a running service, and prints none of its secrets", async () => {
	const { serverEnvironment, deployment } = sharedEnvironment();
	const findings: Finding[] = JSON.parse(
		await serverCommand(serverEnvironment, ["config", "check", "--json"]),
	);
	expect(findings.filter(({ result }) => result === "fail")).toEqual([]);
	const parts = findings.map(({ part }) => part);
	const logins = ["api", "worker", "auditor"].map((role) => `PostgreSQL as ${role}`);
	for (const part of [...logins, "Redis", "Restate ingress", "Restate admin", "Solana accounts"]) {
		expect(parts).toContain(part);
	}
	for (const { chainId } of deployment.chains) {
		for (const of of ["endpoint", "contracts", "feeds"]) expect(parts).toContain(`chain ${chainId} ${of}`);
		expect(parts).toContain(`attesters of chain ${chainId}`);
	}
	for (const start of ["chain 31337 relayer", "Solana fee payer", "attester http://127.0.0.1"]) {
		expect(parts.some((part) => part.startsWith(start))).toBe(true);
	}
	// Its output contains none of the secrets that it was given.
	const said = JSON.stringify(findings);
	for (const name of ["GEOSWAP_SEAL_KEYS", "GEOSWAP_API_KEY_PEPPER", "GEOSWAP_RELAYER_KEYS"]) {
		for (const secret of (serverEnvironment[name] ?? "").split(/[,:@]/).filter(({ length }) => length > 20)) {
			expect(said).not.toContain(secret);
		}
	}
});
