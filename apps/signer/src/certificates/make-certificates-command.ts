import { ConfigError } from "@geoswap/keys/config/config-error";
import { makeCertificates } from "./make-certificates.ts";

/** Creates certificates, and prints the new files. */
export async function makeCertificatesCommand({
	out,
	server = [],
	client = [],
	days,
	json,
}: {
	out: string;
	server?: string[] | undefined;
	client?: string[] | undefined;
	days: string;
	json?: true | undefined;
}): Promise<void> {
	const count = Number(days);
	if (!Number.isInteger(count) || count < 1) throw new ConfigError("--days", "must be a whole number from 1");
	if (server.length + client.length === 0)
		throw new ConfigError(
			"--server, --client",
			"say for whom: the host of the signer, or a process that uses it",
		);
	const result = await makeCertificates({ folder: out, servers: server, clients: client, days: count });
	if (json) return console.log(JSON.stringify(result));
	for (const { name, certificateFile, keyFile } of result.made)
		console.log(`${name}: ${certificateFile}, ${keyFile}`);
	console.log(
		`authority: ${result.caFile}. Keep its key, ca-key.pem, away from all machines of the service.`,
	);
}
