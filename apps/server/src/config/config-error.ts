// The packages of the keys throw it too, so the class is theirs.
export { ConfigError } from "@geoswap/keys/config/config-error";
