-- The roles and databases that Quartermaster needs, for a PostgreSQL that the provider runs. Run this file once with
-- psql as a superuser, with the four passwords in the environment. ./qm up creates the same roles and databases in its
-- embedded PostgreSQL.
\set ON_ERROR_STOP on
\getenv owner_password QM_DATABASE_OWNER_PASSWORD
\getenv request_password QM_DATABASE_REQUEST_PASSWORD
\getenv system_password QM_DATABASE_SYSTEM_PASSWORD
\getenv keycloak_password QM_KEYCLOAK_DATABASE_PASSWORD

create role qm_owner login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'owner_password';
create role qm_request login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'request_password';
create role qm_system login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'system_password';
create role keycloak login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'keycloak_password';

-- No request and no plan may hold its locks forever, even if the client does not end its transaction.
-- A request that stalls inside its transaction blocks its rows for the leader no longer than this.
alter role qm_request set idle_in_transaction_session_timeout = '5s';
alter role qm_request set statement_timeout = '60s';
alter role qm_system set idle_in_transaction_session_timeout = '60s';
alter role qm_system set statement_timeout = '60s';

create database quartermaster owner qm_owner;
revoke all on database quartermaster from public;
grant connect on database quartermaster to qm_request, qm_system;

create database keycloak owner keycloak;
revoke all on database keycloak from public;
