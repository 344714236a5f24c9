import { readFileSync } from "node:fs";
import { zeroAddress } from "viem";
import type { Config } from "../../config/config.ts";
import { readOptionalSecret } from "../../config/secrets.ts";
import { parseDenied } from "../../deny/deny-file.ts";
import { requestDenied } from "../../deny/deny-service.ts";
import { check, type Finding, ok } from "./finding.ts";

const part = "deny list";

/** Checks that the deny list's file can be used, or that its service answers. */
export async function checkDenyList(
	{ denyList }: Pick<Config, "denyList">,
	{ isOffline }: { isOffline: boolean },
): Promise<Finding[]> {
	const { file, url, timeoutMs = 0 } = denyList ?? {};
	if (file !== undefined) {
		return check(part, async () => ok(`has ${parseDenied(readFileSync(file, "utf8")).size} addresses`));
	}
	if (url === undefined || isOffline) return [];
	return check(part, async () => {
		const signal = AbortSignal.timeout(timeoutMs);
		// An address that nobody holds.
		await requestDenied({
			url,
			token: readOptionalSecret("GEOSWAP_DENY_TOKEN"),
			address: zeroAddress,
			signal,
		});
		return ok("answers");
	});
}
