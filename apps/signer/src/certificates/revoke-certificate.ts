import { access, appendFile, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ConfigError } from "@geoswap/keys/config/config-error";
import { authorityDays, openssl } from "./openssl.ts";

/**
 * Adds a client's certificate to the authority's revocation list, and creates the list if there is none. The list is
 * valid as long as a new authority, because a signer rejects every client once its list has expired.
 */
export async function revokeCertificate({
	folder,
	certificateFile,
}: {
	/** The folder of the authority. */
	folder: string;
	certificateFile: string;
}): Promise<{ crlFile: string }> {
	const at = (name: string) => join(resolve(folder), name);
	for (const file of [at("ca.pem"), at("ca-key.pem"), certificateFile]) {
		await access(file).catch(() => {
			throw new ConfigError(file, "cannot be read: revoke on the machine and in the folder of the authority");
		});
	}
	// The index has a line for each revoked certificate. openssl requires it to exist.
	await appendFile(at("revoked.txt"), "", { mode: 0o600 });
	const work = await mkdtemp(join(tmpdir(), "geoswap-revoke-"));
	try {
		const config = join(work, "config");
		const lines = [
			"[ca]",
			"default_ca = authority",
			"[authority]",
			`database = ${at("revoked.txt")}`,
			`certificate = ${at("ca.pem")}`,
			`private_key = ${at("ca-key.pem")}`,
			"default_md = sha256",
			`default_crl_days = ${authorityDays}`,
		];
		await writeFile(config, `${lines.join("\n")}\n`);
		await openssl(["ca", "-config", config, "-revoke", certificateFile]);
		await openssl(["ca", "-config", config, "-gencrl", "-out", at("crl-new.pem")]);
		await rename(at("crl-new.pem"), at("crl.pem"));
	} finally {
		await rm(work, { recursive: true });
	}
	return { crlFile: at("crl.pem") };
}
