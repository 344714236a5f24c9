import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { SecureContextOptions } from "node:tls";
import { ConfigError } from "@geoswap/keys/config/config-error";
import type { SignerConfig } from "../signer-config.ts";

export type Certificates = {
	/** The parts of a TLS context. */
	context: SecureContextOptions;
	/** When each certificate expires. */
	expiries: { name: string; expiresAtMs: number }[];
};

/** Reads the certificates from their files. Throws if a file is missing, or is not a certificate. */
export function readCertificates({
	certificateFile,
	keyFile,
	clientCaFile,
	crlFile,
}: SignerConfig["tls"]): Certificates {
	const [cert, key, ca] = [certificateFile, keyFile, clientCaFile].map(read);
	return {
		context: { cert, key, ca, ...(crlFile !== undefined && { crl: read(crlFile) }) },
		expiries: [
			{ name: "server", expiresAtMs: expiryOf(certificateFile) },
			{ name: "client-ca", expiresAtMs: expiryOf(clientCaFile) },
		],
	};
}

function read(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		throw new ConfigError(path, (error as Error).message);
	}
}

function expiryOf(path: string): number {
	try {
		return new X509Certificate(read(path)).validToDate.getTime();
	} catch (error) {
		if (error instanceof ConfigError) throw error;
		throw new ConfigError(path, "it is not a certificate in PEM");
	}
}
